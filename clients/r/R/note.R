# Checkpoints, which are signed notes of text (C2SP signed-note).

# Return size, root (hexadecimal) and note of a checkpoint; refuse one that the key did not sign.
opened_note <- function(note, key) {
  name <- paste0("penstock/", substr(hex(sha256(key)), 1, 16))
  parts <- strsplit(note, "\n\n", fixed = TRUE)[[1]]
  lines <- if (length(parts) == 2) strsplit(parts[1], "\n", fixed = TRUE)[[1]] else character()
  pattern <- paste0("^\u2014 ", name, " ([A-Za-z0-9+/=]+)\n$")
  if (length(lines) < 3 || lines[1] != name || !grepl(pattern, parts[2])) {
    refuse_log("The log's checkpoint is not a note of the log with this key.")
  }
  signature <- from_base64(sub(pattern, "\\1", parts[2]))
  tag <- sha256(c(charToRaw(paste0(name, "\n")), as.raw(1), key))[1:4]
  text <- charToRaw(enc2utf8(paste0(parts[1], "\n")))
  is_genuine <- length(signature) == 68 && identical(signature[1:4], tag) &&
    is_signed(text, signature[-(1:4)], key)
  if (!is_genuine) refuse_log("The checkpoint's signature is not by the log's key.")
  root <- from_base64(lines[3])
  if (length(root) != 32 || !grepl("^[1-9][0-9]{0,15}$", lines[2])) {
    refuse_log("The log's checkpoint has no size or no root.")
  }
  list(size = as.numeric(lines[2]), root = hex(root), note = note)
}

is_signed <- function(text, signature, key) {
  tryCatch(
    isTRUE(openssl::ed25519_verify(text, signature, openssl::read_ed25519_pubkey(key))),
    error = function(cnd) FALSE
  )
}

hex <- function(content) paste(as.character(content), collapse = "")

from_hex <- function(text) {
  if (!is.character(text) || length(text) != 1 || !grepl("^[0-9a-fA-F]{64}$", text)) {
    refuse_log("The log states a hash or a key that is not 32 bytes in hexadecimal.")
  }
  as.raw(strtoi(substring(text, seq(1, 63, 2), seq(2, 64, 2)), 16L))
}

# Return the bytes of base64 in its standard spelling; none for any other.
from_base64 <- function(text) {
  content <- tryCatch(openssl::base64_decode(text), error = function(cnd) raw())
  if (identical(openssl::base64_encode(content), text)) content else raw()
}

refuse_log <- function(message) stop_penstock("log_refused", message)
