#' Verify that the server's log continues the one seen before
#'
#' The log's key is pinned at its first answer. A log that is shorter, or has another history, is a
#' condition of class `penstock_log_refused`.
#'
#' @inheritParams penstock_call
#' @return A list with `size`, `root` (hexadecimal) and `note` of the newest checkpoint, invisibly.
#' @export
penstock_verify <- function(con) invisible(followed(con)$checkpoint)

# Return an answer, after verifying that its receipt's leaf is in the log and states it.
verified <- function(con, answer, expected) {
  if (is.null(con$name)) con$name <- penstock_me(con)$name
  receipt <- answer$receipt
  if (is.null(receipt$index) || is.null(receipt$checkpoint) || !is.character(receipt$leaf)) {
    refuse_log("The receipt has no index in the log, no leaf or no checkpoint.")
  }
  if (hex(leaf_hash(charToRaw(enc2utf8(receipt$leaf)))) != receipt$leaf_hash) {
    refuse_log("The receipt's leaf does not have the hash that the receipt states.")
  }
  require_leaf(receipt$leaf, c(expected, list(
    user = con$name, dataset = answer$dataset, level = answer$level[c("parameter", "value")]
  )))
  known <- remembered(con)
  if (is.null(known)) known <- followed(con)
  signed <- opened_note(receipt$checkpoint, from_hex(known$key))
  if (known$checkpoint$size < signed$size) known <- followed(con)
  newest <- known$checkpoint
  if (receipt$index >= signed$size || newest$size < signed$size) {
    refuse_log("The receipt's checkpoint covers leaves that the log does not have.")
  }
  require_continued(con, signed, newest)
  hashes <- proof(con, "inclusion", list(index = receipt$index, size = newest$size))
  leaf <- from_hex(receipt$leaf_hash)
  if (!is_included(leaf, receipt$index, newest$size, hashes, from_hex(newest$root))) {
    refuse_log(paste0("The log does not contain leaf ", receipt$index, ", which is on the receipt."))
  }
  answer
}

require_leaf <- function(leaf, expected) {
  stated <- tryCatch(
    jsonlite::fromJSON(leaf, simplifyVector = FALSE, bigint_as_char = TRUE),
    error = function(cnd) NULL
  )
  if (is.null(names(stated)) || repeats(stated)) {
    refuse_log("The receipt's leaf is no object, or states a field twice.")
  }
  if (is.character(stated$query)) stated$query <- sub(",.*$", "", stated$query)
  for (name in names(expected)) {
    theirs <- stated[[name]]
    value <- expected[[name]]
    # A newer server may state more.
    if (is.list(value)) theirs <- theirs[names(value)]
    if (!isTRUE(all.equal(theirs, value, tolerance = 0, check.attributes = FALSE))) {
      refuse_log(paste0("The receipt's leaf does not match the answer: ", name, " differs."))
    }
  }
}

# Return TRUE if an object has a name twice, of which readers take different ones.
repeats <- function(value) {
  is.list(value) && (anyDuplicated(names(value)) > 0 || any(vapply(value, repeats, NA)))
}

followed <- function(con) {
  before <- remembered(con)
  answer <- penstock_call(con, "GET", "/audit/checkpoint")
  checkpoint <- opened_note(answer$note, from_hex(answer$key))
  if (!identical(as.numeric(answer$size), checkpoint$size) ||
    !identical(answer$root_hash, checkpoint$root)) {
    refuse_log("The checkpoint's size or root differs from its signed note.")
  }
  if (!is.null(before)) {
    if (!identical(before$key, answer$key)) {
      refuse_log("The log is signed by another key than before; ask the server's operator why.")
    }
    require_continued(con, before$checkpoint, checkpoint)
  }
  remember(con, list(key = answer$key, checkpoint = checkpoint))
}

require_continued <- function(con, before, after) {
  if (after$size < before$size) {
    refuse_log(paste0(
      "The log has ", after$size, " leaves, and had ", before$size, ": it was truncated, or the",
      " server's database was restored from an older state."
    ))
  }
  hashes <- list()
  if (after$size > before$size) {
    hashes <- proof(con, "consistency", list(from = before$size, to = after$size))
  }
  roots <- lapply(list(before$root, after$root), from_hex)
  if (!is_continued(before$size, after$size, roots[[1]], roots[[2]], hashes)) {
    refuse_log(paste0(
      "The log of ", after$size, " leaves does not begin with the ", before$size, " leaves that",
      " were seen before: its history was changed, or the server shows others another log."
    ))
  }
}

proof <- function(con, kind, query) {
  lapply(penstock_call(con, "GET", paste0("/audit/proof/", kind), query)$hashes, from_hex)
}

remembered <- function(con) {
  if (is.null(con$known) && !is.null(con$checkpoints) && file.exists(con$checkpoints)) {
    con$known <- read_checkpoints(con)[[con$url]]
  }
  con$known
}

remember <- function(con, known) {
  con$known <- known
  if (!is.null(con$checkpoints)) {
    kept <- if (file.exists(con$checkpoints)) read_checkpoints(con) else list()
    kept[[con$url]] <- known
    made <- tempfile("checkpoints", dirname(con$checkpoints))
    writeLines(json_text(kept), made, useBytes = TRUE)
    file.rename(made, con$checkpoints)
  }
  known
}

read_checkpoints <- function(con) {
  tryCatch(
    jsonlite::read_json(con$checkpoints),
    error = function(cnd) refuse_log(paste(con$checkpoints, "cannot be read as JSON."))
  )
}
