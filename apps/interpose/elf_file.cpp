#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace vernier::interpose {
namespace {

// The file as memory, read with bounds.
class File {
 public:
  explicit File(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      void* mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) {
        data_ = static_cast<const char*>(mapped);
        size_ = static_cast<std::size_t>(status.st_size);
      }
    }
    if (file >= 0) close(file);
  }
  ~File() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // False beyond its end.
  template <class T>
  bool read(std::size_t at, T& value) const {
    if (at > size_ || size_ - at < sizeof value) return false;
    std::memcpy(&value, data_ + at, sizeof value);
    return true;
  }

  bool holds(std::string_view text) const {
    constexpr std::size_t most = std::size_t{1} << 28;
    return data_ != nullptr && memmem(data_, std::min(size_, most), text.data(), text.size()) != nullptr;
  }

  std::string_view text(std::size_t at) const {  // up to a zero or the end
    if (at >= size_) return {};
    return {data_ + at, strnlen(data_ + at, size_ - at)};
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

bool read_header(const File& file, Elf64_Ehdr& header) {
  return file.read(0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool any_of(const File& file, const Elf64_Shdr& table, const Elf64_Shdr& strings,
            std::initializer_list<const char*> names) {
  Elf64_Sym symbol;
  for (std::size_t at = 0; at + sizeof symbol <= table.sh_size; at += sizeof symbol) {
    if (!file.read(table.sh_offset + at, symbol)) return false;
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const std::string_view name = file.text(strings.sh_offset + symbol.st_name);
    for (const char* wanted : names)
      if (name == wanted) return true;
  }
  return false;
}

}  // namespace

Linking linking_of(const std::string& path) {
  const File file(path);
  Elf64_Ehdr header;
  if (!read_header(file, header)) return Linking::not_elf;
  Elf64_Phdr segment;
  for (std::size_t i = 0; i < header.e_phnum; ++i)
    if (file.read(header.e_phoff + i * sizeof segment, segment) && segment.p_type == PT_INTERP) return Linking::dynamic;
  return Linking::static_only;
}

bool defines_any(const std::string& path, std::initializer_list<const char*> names) {
  const File file(path);
  Elf64_Ehdr header;
  if (!read_header(file, header)) return false;
  Elf64_Shdr table, strings;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    if (!file.read(header.e_shoff + i * sizeof table, table)) return false;
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (file.read(header.e_shoff + table.sh_link * sizeof strings, strings) && any_of(file, table, strings, names))
      return true;
  }
  return false;
}

bool holds(const std::string& path, std::string_view text) { return File(path).holds(text); }

}  // namespace vernier::interpose
