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

#include "src/base/bytes.h"
#include "src/base/io.h"
#include "src/base/memory.h"

#define MAX_SECTIONS (1u << 18)
#define MAX_NAMES (64u << 20)	/* bytes of section names */
#define MAX_NOTES (64u << 10)	/* bytes searched for the build-id in one segment or section */
#define PAGE_MASK 0xfffull

struct elf_image_priv {
	Elf *elf;
	int fd;			/* -1: the bytes are at mem */
	const uint8_t *mem;
	size_t nr_sections;
	char *names;		/* copy of the section name table, with a NUL added; NULL: none */
	uint64_t names_size;
	struct elf_segment *segments;
};

long elf_image_pread(struct elf_image *img, void *buf, size_t len, uint64_t offset)
{
	struct elf_image_priv *priv = img->priv;

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

	if (size > max)
		return -EFBIG;
	if (offset > img->file_size || size > img->file_size - offset)
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

static void fill_section(struct elf_section *out, size_t index, const GElf_Shdr *sh)
{
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
}

int elf_image_section_at(struct elf_image *img, uint32_t index, struct elf_section *out)
{
	GElf_Shdr sh;

	if (index >= img->priv->nr_sections || !get_section(img, index, &sh) ||
	    sh.sh_type == SHT_NOBITS)
		return -ENOENT;
	fill_section(out, index, &sh);
	return 0;
}

uint32_t elf_image_nr_sections(const struct elf_image *img)
{
	return (uint32_t)img->priv->nr_sections;
}

int elf_image_section(struct elf_image *img, const char *name, struct elf_section *out)
{
	struct elf_image_priv *priv = img->priv;
	GElf_Shdr sh;

	for (size_t i = 1; priv->names && i < priv->nr_sections; i++) {
		if (!get_section(img, i, &sh) || sh.sh_name >= priv->names_size)
			continue;
		if (sh.sh_type == SHT_NOBITS || strcmp(priv->names + sh.sh_name, name))
			continue;
		fill_section(out, i, &sh);
		return 0;
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
		free(img->priv->names);
		free(img->priv->segments);
		free(img->priv);
	}
	free(img);
}
