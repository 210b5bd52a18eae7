# SPDX-License-Identifier: GPL-2.0-or-later
"""How colours differ: contrast (WCAG 2.1), and distances as people see them who are blind to one kind of colour.

Sources: WCAG 2.1, "relative luminance"; G. Machado, M. Oliveira, L. Fernandes, "A physiologically-based model for
simulation of color vision deficiency" (2009), table 1 at severity 1.0, for linear sRGB; G. Sharma, W. Wu, E. Dalal,
"The CIEDE2000 color-difference formula" (2005), whose test data check() repeats.
"""
import math

VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def times(matrix, v):
    return [sum(a * b for a, b in zip(row, v)) for row in matrix]


def linear(colour):
    """Of red, green, blue in 0 .. 255."""
    parts = [c / 255 for c in colour]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(a, b):
    low, high = sorted(times(TO_XYZ, linear(c))[1] for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(colour, vision="normal"):
    """L*, a*, b* of a colour as that vision has it."""
    seen = [min(1, max(0, c)) for c in times(VISIONS[vision], linear(colour))]
    x, y, z = (c / w for c, w in zip(times(TO_XYZ, seen), WHITE))
    x, y, z = (c ** (1 / 3) if c > 216 / 24389 else (24389 / 27 * c + 16) / 116 for c in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def hue(a, b):
    return math.degrees(math.atan2(b, a)) % 360


def distance(one, other):
    """CIEDE2000 of two colours of lab(): about 1 is just seen, 2.3 is seen side by side."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 1.5 - 0.5 * math.sqrt(c7 / (c7 + 25 ** 7))
    c1, c2 = math.hypot(a1 * g, b1), math.hypot(a2 * g, b2)
    h1, h2 = hue(a1 * g, b1), hue(a2 * g, b2)
    turn = (h2 - h1 + 180) % 360 - 180
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + turn / 2 if c1 * c2 else h1 + h2
    t = (1 - 0.17 * math.cos(math.radians(h - 30)) + 0.24 * math.cos(math.radians(2 * h))
         + 0.32 * math.cos(math.radians(3 * h + 6)) - 0.20 * math.cos(math.radians(4 * h - 63)))
    l_part = (l2 - l1) / (1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2))
    c_part, h_part = (c2 - c1) / (1 + 0.045 * c), dh / (1 + 0.015 * c * t)
    about_blue = math.exp(-(((h % 360) - 275) / 25) ** 2)
    r = -2 * math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * math.sin(math.radians(60 * about_blue))
    return math.sqrt(l_part ** 2 + c_part ** 2 + h_part ** 2 + r * c_part * h_part)


def nearest(families, vision):
    """The two families with the least distance of any two of their shades: (distance, name, name)."""
    seen = {name: [lab(c, vision) for c in shades] for name, shades in families.items()}
    return min((distance(a, b), one, other) for one in seen for other in seen if one < other
               for a in seen[one] for b in seen[other])


def check():
    """Three pairs of the authors' test data: numbers 1, 9 and 25."""
    for one, other, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                               ((50, 2.4900, -0.0010), (50, -2.4900, 0.0011), 7.2195),
                               ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644)):
        if abs(distance(one, other) - wanted) > 0.0001:
            return f"{distance(one, other)} instead of {wanted}"
    return ""
