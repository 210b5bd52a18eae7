/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/io.h"
#include "src/base/memory.h"
#include "src/elf/packed_section.h"

#define MAX_SECTIONS (1u << 18)
#define MAX_NAMES (64u << 20)	/* bytes of section names */
#define MAX_NOTES (64u << 10)	/* bytes searched for the build-id in one segment or section */
#define PAGE_MASK 0xfffull
/* Offsets of what was unpacked: the number of the section, and the offset in it. */
#define UNPACKED (1ull << 62)
#define UNPACKED_SHIFT 40
#define MAX_UNPACKED (256ull << 20)	/* bytes of one section */
#define MAX_PACKED (128ull << 20)

/* The contents of a section that is compressed. */
struct unpacked {
	uint32_t index;
	uint64_t size;
	void *v;
};

struct elf_image_priv {
	Elf *elf;
	int fd;			/* -1: the bytes are at mem */
	const uint8_t *mem;
	size_t nr_sections;
	char *names;		/* copy of the section name table, with a NUL added; NULL: none */
	uint64_t names_size;
	struct elf_segment *segments;
	struct unpacked *unpacked;	/* sections that were read */
	size_t nr_unpacked, cap_unpacked;
};

/* ---- bytes ---- */

static int unpack(struct elf_image *img, uint32_t index, const struct unpacked **up);

static long read_unpacked(struct elf_image *img, void *buf, size_t len, uint64_t offset)
{
	uint64_t at = offset & ((1ull << UNPACKED_SHIFT) - 1);
	const struct unpacked *u;
	int err = unpack(img, (uint32_t)((offset & ~UNPACKED) >> UNPACKED_SHIFT), &u);

	if (err)
		return err;
	if (at >= u->size)
		return 0;
	if (len > u->size - at)
		len = (size_t)(u->size - at);
	memcpy(buf, (const char *)u->v + at, len);
	return (long)len;
}

long elf_image_pread(struct elf_image *img, void *buf, size_t len, uint64_t offset)
{
	struct elf_image_priv *priv = img->priv;

	if (offset >= UNPACKED && offset < 2 * UNPACKED)
		return read_unpacked(img, buf, len, offset);
	if (offset >= img->file_size)
		return 0;
	if (len > img->file_size - offset)
		len = img->file_size - offset;
	if (priv->fd >= 0)
		return io_pread(priv->fd, buf, len, offset);
	memcpy(buf, priv->mem + offset, len);
	return (long)len;
}

int elf_image_read(struct elf_image *img, uint64_t offset, uint64_t size, uint64_t max, void **out)
{
	void *buf;
	long n;

	if (size > max || (offset >= UNPACKED && size > MAX_UNPACKED))
		return -EFBIG;
	if (offset < UNPACKED && (offset > img->file_size || size > img->file_size - offset))
		return -EBADMSG;
	buf = malloc(size + 1);
	if (!buf)
		return -ENOMEM;
	n = elf_image_pread(img, buf, size, offset);
	if (n < 0 || (uint64_t)n < size) {
		free(buf);
		return n < 0 ? (int)n : -EBADMSG;
	}
	*out = buf;
	return 0;
}

/*
 * Refuses section tables that the file cannot hold. libelf would allocate a descriptor for each
 * section before it looks at the table, and trusts the count in the first section header when the
 * count in the file header is 0.
 */
static int check_section_table(struct elf_image *img)
{
	union { Elf32_Ehdr e32; Elf64_Ehdr e64; } eh;
	union { Elf32_Shdr s32; Elf64_Shdr s64; } sh = { 0 };
	uint64_t shoff, nr, size;
	long n = elf_image_pread(img, &eh, sizeof(eh), 0);

	if (n < 0)
		return (int)n;
	if (n < EI_NIDENT || memcmp(&eh, ELFMAG, SELFMAG))
		return -ENOEXEC;
	img->is64 = eh.e64.e_ident[EI_CLASS] == ELFCLASS64;
	if (!img->is64 && eh.e32.e_ident[EI_CLASS] != ELFCLASS32)
		return -EBADMSG;
	if (eh.e64.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if ((size_t)n < (img->is64 ? sizeof(eh.e64) : sizeof(eh.e32)))
		return -EBADMSG;

	shoff = img->is64 ? eh.e64.e_shoff : eh.e32.e_shoff;
	nr = img->is64 ? eh.e64.e_shnum : eh.e32.e_shnum;
	size = img->is64 ? sizeof(sh.s64) : sizeof(sh.s32);
	if (!shoff)
		return nr ? -EBADMSG : 0;
	n = elf_image_pread(img, &sh, size, shoff);
	if (n < (long)size)
		return n < 0 ? (int)n : -EBADMSG;
	if (!nr)
		nr = img->is64 ? sh.s64.sh_size : sh.s32.sh_size;
	if (nr > (img->file_size - shoff) / size)
		return -EBADMSG;
	return nr > MAX_SECTIONS ? -EFBIG : 0;
}

static int open_libelf(struct elf_image *img)
{
	struct elf_image_priv *priv = img->priv;
	GElf_Ehdr eh;

	elf_version(EV_CURRENT);
	if (priv->fd >= 0)
		priv->elf = elf_begin(priv->fd, ELF_C_READ, NULL);
	else
		priv->elf = elf_memory((char *)priv->mem, img->file_size);
	if (!priv->elf || elf_kind(priv->elf) != ELF_K_ELF || !gelf_getehdr(priv->elf, &eh))
		return -EBADMSG;
	img->machine = eh.e_machine;
	img->type = eh.e_type;
	return 0;
}

static int add_segment(struct elf_image *img, const GElf_Phdr *ph)
{
	uint64_t end;

	if (ph->p_filesz > ph->p_memsz || __builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end) ||
	    __builtin_add_overflow(ph->p_offset, ph->p_filesz, &(uint64_t){ 0 }))
		return -EBADMSG;
	img->priv->segments[img->nr_segments++] = (struct elf_segment){
		.offset = ph->p_offset,
		.vaddr = ph->p_vaddr,
		.filesz = ph->p_filesz,
		.memsz = ph->p_memsz,
		.align = ph->p_align,
		.exec = ph->p_flags & PF_X,
		.write = ph->p_flags & PF_W,
	};
	if ((ph->p_vaddr & ~PAGE_MASK) < img->vaddr_lo)
		img->vaddr_lo = ph->p_vaddr & ~PAGE_MASK;
	if (end > img->vaddr_hi)
		img->vaddr_hi = end;
	return 0;
}

static int load_segments(struct elf_image *img)
{
	struct elf_image_priv *priv = img->priv;
	GElf_Phdr ph;
	size_t nr;
	int err;

	if (elf_getphdrnum(priv->elf, &nr))
		return -EBADMSG;
	if (nr > ELF_MAX_SEGMENTS)
		return -EFBIG;
	priv->segments = calloc(nr + 1, sizeof(*priv->segments));
	if (!priv->segments)
		return -ENOMEM;
	img->segments = priv->segments;
	img->vaddr_lo = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(priv->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type == PT_GNU_EH_FRAME) {
			img->eh_frame_hdr_vaddr = ph.p_vaddr;
			img->eh_frame_hdr_size = ph.p_memsz;
		}
		err = ph.p_type == PT_LOAD ? add_segment(img, &ph) : 0;
		if (err)
			return err;
	}
	if (!img->nr_segments)
		img->vaddr_lo = 0;
	return 0;
}

static bool get_section(struct elf_image *img, size_t index, GElf_Shdr *sh)
{
	Elf_Scn *scn = elf_getscn(img->priv->elf, index);

	return scn && gelf_getshdr(scn, sh);
}

static int load_section_names(struct elf_image *img)
{
	struct elf_image_priv *priv = img->priv;
	size_t index;
	GElf_Shdr sh;
	void *names;
	int err;

	if (elf_getshdrnum(priv->elf, &priv->nr_sections))
		return -EBADMSG;
	if (!priv->nr_sections)
		return 0;
	if (!get_section(img, 0, &sh) || elf_getshdrstrndx(priv->elf, &index))
		return -EBADMSG;
	if (index == SHN_UNDEF)
		return 0;
	if (!get_section(img, index, &sh) || sh.sh_type == SHT_NOBITS)
		return -EBADMSG;
	err = elf_image_read(img, sh.sh_offset, sh.sh_size, MAX_NAMES, &names);
	if (err)
		return err;
	priv->names = names;
	priv->names_size = sh.sh_size;
	priv->names[sh.sh_size] = 0;
	return 0;
}

/* "" where the file has no names. */
static const char *section_name(const struct elf_image *img, const GElf_Shdr *sh)
{
	const struct elf_image_priv *priv = img->priv;

	return priv->names && sh->sh_name < priv->names_size ? priv->names + sh->sh_name : "";
}

/* What the head of a section says, if it is compressed; p->type 0: it is not. 0 or -errno. */
static int read_packing(struct elf_image *img, const GElf_Shdr *sh, struct packed_section *p)
{
	uint8_t head[PACKED_HEAD_BYTES];
	enum packed_form form;
	long n;
	int err;

	p->type = 0;
	if (!packed_section_form(sh->sh_flags, section_name(img, sh), img->is64, &form))
		return 0;
	if (sh->sh_offset >= img->file_size)
		return -EBADMSG;
	n = elf_image_pread(img, head, sh->sh_size < sizeof(head) ? sh->sh_size : sizeof(head),
			    sh->sh_offset);
	err = n < 0 ? (int)n : packed_section_read(head, (size_t)n, form, p);
	if (err == -ENOTSUP)
		img->unknown_packing = p->type;
	return err;
}

static int read_unpacked_section(struct elf_image *img, const GElf_Shdr *sh,
				 const struct packed_section *p, struct unpacked *u)
{
	void *packed;
	int err;

	if (p->size > MAX_UNPACKED)
		return -EFBIG;
	err = elf_image_read(img, sh->sh_offset, sh->sh_size, MAX_PACKED, &packed);
	if (err)
		return err;
	u->size = p->size;
	u->v = malloc(p->size + 1);
	err = u->v ? packed_section_unpack(p, packed, sh->sh_size, u->v) : -ENOMEM;
	free(packed);
	return err;
}

static int unpack(struct elf_image *img, uint32_t index, const struct unpacked **up)
{
	struct elf_image_priv *priv = img->priv;
	struct packed_section p;
	struct unpacked u = { .index = index };
	struct unpacked *to;
	GElf_Shdr sh;
	int err;

	for (size_t i = 0; i < priv->nr_unpacked; i++)
		if (priv->unpacked[i].index == index) {
			*up = &priv->unpacked[i];
			return 0;
		}
	if (index >= priv->nr_sections || !get_section(img, index, &sh) ||
	    sh.sh_offset >= UNPACKED)
		return -EBADMSG;
	err = read_packing(img, &sh, &p);
	if (!err)
		err = p.type ? read_unpacked_section(img, &sh, &p, &u) : -EBADMSG;
	to = err ? NULL : array_push(&priv->unpacked, &priv->nr_unpacked, &priv->cap_unpacked);
	if (!to) {
		free(u.v);
		return err ? err : -ENOMEM;
	}
	*to = u;
	*up = to;
	return 0;
}

static int fill_section(struct elf_image *img, size_t index, const GElf_Shdr *sh,
			struct elf_section *out)
{
	struct packed_section p;
	int err = read_packing(img, sh, &p);

	*out = (struct elf_section){
		.addr = sh->sh_addr,
		.offset = sh->sh_offset,
		.size = sh->sh_size,
		.entsize = sh->sh_entsize,
		.index = (uint32_t)index,
		.type = sh->sh_type,
		.link = sh->sh_link,
		.info = sh->sh_info,
		.flags = sh->sh_flags,
	};
	if (err || !p.type)
		return err;
	out->is_unpacked = true;
	out->offset = UNPACKED | (uint64_t)index << UNPACKED_SHIFT;
	out->size = p.size;
	out->flags &= ~(uint64_t)SHF_COMPRESSED;
	return 0;
}

int elf_image_section_at(struct elf_image *img, uint32_t index, struct elf_section *out)
{
	GElf_Shdr sh;

	if (index >= img->priv->nr_sections || !get_section(img, index, &sh) ||
	    sh.sh_type == SHT_NOBITS)
		return -ENOENT;
	return fill_section(img, index, &sh, out);
}

uint32_t elf_image_nr_sections(const struct elf_image *img)
{
	return (uint32_t)img->priv->nr_sections;
}

int elf_image_section(struct elf_image *img, const char *name, struct elf_section *out)
{
	struct elf_image_priv *priv = img->priv;
	const char *old = strncmp(name, ".debug_", 7) ? NULL : name + 1;
	GElf_Shdr sh = { 0 };

	for (size_t i = 1; priv->names && i < priv->nr_sections; i++) {
		const char *have = get_section(img, i, &sh) ? section_name(img, &sh) : "";
		bool is_it = !strcmp(have, name) ||
			     (old && !strncmp(have, ".z", 2) && !strcmp(have + 2, old));

		if (is_it && sh.sh_type != SHT_NOBITS)
			return fill_section(img, i, &sh, out);
	}
	return -ENOENT;
}

int elf_image_offset_of(const struct elf_image *img, uint64_t vaddr, uint64_t *offset,
			uint64_t *left)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *seg = &img->segments[i];

		if (vaddr < seg->vaddr || vaddr - seg->vaddr >= seg->filesz)
			continue;
		*offset = seg->offset + (vaddr - seg->vaddr);
		*left = seg->filesz - (vaddr - seg->vaddr);
		if (*offset >= img->file_size)
			return -ENOENT;
		if (*left > img->file_size - *offset)
			*left = img->file_size - *offset;
		return 0;
	}
	return -ENOENT;
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Looks for the GNU build-id among notes; true if it was found. */
static bool find_build_id(struct elf_image *img, struct byte_reader notes, uint64_t align)
{
	while (br_left(&notes) >= 12) {
		uint32_t name_size = br_u32(&notes), size = br_u32(&notes), type = br_u32(&notes);
		const uint8_t *name = br_bytes(&notes, align_up(name_size, 4));
		const uint8_t *desc = br_bytes(&notes, size);

		if (!name || !desc)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) && size &&
		    size <= sizeof(img->build_id)) {
			memcpy(img->build_id, desc, size);
			img->build_id_len = (uint8_t)size;
			return true;
		}
		br_bytes(&notes, align_up(size, align) - size);
	}
	return false;
}

static bool read_notes(struct elf_image *img, uint64_t offset, uint64_t size, uint64_t align)
{
	uint64_t len = size < MAX_NOTES ? size : MAX_NOTES;
	void *notes;
	bool found;

	if (elf_image_read(img, offset, len, MAX_NOTES, &notes))
		return false;
	found = find_build_id(img, br_make(notes, len), align == 8 ? 8 : 4);
	free(notes);
	return found;
}

/*
 * Looks in the section first: in a separate debug file the offsets of segments may be those of the
 * stripped file.
 */
static void load_build_id(struct elf_image *img)
{
	struct elf_section sec;
	GElf_Phdr ph;
	size_t nr;

	if (!elf_image_section(img, ".note.gnu.build-id", &sec) &&
	    read_notes(img, sec.offset, sec.size, 4))
		return;
	if (elf_getphdrnum(img->priv->elf, &nr))
		return;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(img->priv->elf, (int)i, &ph) && ph.p_type == PT_NOTE &&
		    read_notes(img, ph.p_offset, ph.p_filesz, ph.p_align))
			return;
}

static int load(struct elf_image *img)
{
	int err = check_section_table(img);

	if (!err)
		err = open_libelf(img);
	if (!err)
		err = load_segments(img);
	if (!err)
		err = load_section_names(img);
	if (!err)
		load_build_id(img);
	return err;
}

static int open_image(int fd, const void *mem, uint64_t size, struct elf_image **imgp)
{
	struct elf_image *img = calloc(1, sizeof(*img));
	int err = -ENOMEM;

	if (!img)
		goto out;
	img->priv = calloc(1, sizeof(*img->priv));
	if (!img->priv)
		goto out;
	img->file_size = size;
	img->priv->fd = fd;
	img->priv->mem = mem;
	errno = 0;
	err = load(img);
	/* libelf has no error code for it: a file that is well would be called damaged. */
	if (err == -EBADMSG && errno == ENOMEM) {
		memory_refused();
		err = -ENOMEM;
	}
	if (err)
		goto out;
	*imgp = img;
	img = NULL;	/* now the caller's */
out:
	elf_image_close(img);
	return err;
}

int elf_image_open(int fd, struct elf_image **imgp)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	return open_image(fd, NULL, (uint64_t)st.st_size, imgp);
}

int elf_image_open_memory(const void *data, size_t len, struct elf_image **imgp)
{
	return open_image(-1, data, len, imgp);
}

void elf_image_close(struct elf_image *img)
{
	if (!img)
		return;
	if (img->priv) {
		elf_end(img->priv->elf);
		for (size_t i = 0; i < img->priv->nr_unpacked; i++)
			free(img->priv->unpacked[i].v);
		free(img->priv->unpacked);
		free(img->priv->names);
		free(img->priv->segments);
		free(img->priv);
	}
	free(img);
}
