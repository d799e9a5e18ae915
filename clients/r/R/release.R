#' Release a query's values as a tibble with intervals
#'
#' The same release again has the same values and costs nothing. Its receipt is verified: the leaf
#' names you and this release, and is in the audit log, which continues the one seen before.
#'
#' @inheritParams penstock_call
#' @param query The name of a registered query.
#' @param tier,epsilon,rho,level At most one of them says which level is released; without any it
#'   is that of your clearance.
#' @return A tibble with columns `key` (`key_1`, `key_2` ... for keys of several parts), `value`,
#'   `lower` and `upper`, at the confidence that the server states, each interval by itself.
#'   `attr(x, "answer")` is the server's whole answer.
#' @examples
#' \dontrun{
#' con <- penstock()
#' penstock_release(con, "visits", tier = "public")
#' }
#' @export
penstock_release <- function(con, query, tier = NULL, epsilon = NULL, rho = NULL, level = NULL) {
  target <- Filter(Negate(is.null), list(tier = tier, epsilon = epsilon, rho = rho, level = level))
  if (length(target) > 1) {
    refuse_argument(paste("Give one of", paste(names(target), collapse = " or "), "alone."))
  }
  answer <- penstock_call(con, "POST", c("queries", query, "releases"), body = target)
  expected <- list(kind = "release", query = answer$query, release = answer$id)
  release_table(verified(con, answer, expected))
}

#' Read a release again that you received
#'
#' @inheritParams penstock_release
#' @param release The release's id, `attr(x, "answer")$id`.
#' @return The tibble of [penstock_release()].
#' @export
penstock_values <- function(con, release) {
  answer <- penstock_call(con, "GET", c("releases", release, "values"))
  release_table(verified(con, answer, list(release = answer$id)))
}

#' Read a stream's running totals
#'
#' @inheritParams penstock_call
#' @param stream The name of a stream.
#' @param from,to The first and the last step; by default all that the level has.
#' @param tier A tier at or below your clearance; by default your clearance.
#' @return A tibble with one row for each step: `t`, `total` (`total_1`, `total_2` ... if an element
#'   has several numbers), `standard_deviation`, `half_width`.
#' @export
penstock_stream <- function(con, stream, from = NULL, to = NULL, tier = NULL) {
  query <- list(from = from, to = to, tier = tier)
  answer <- penstock_call(con, "GET", c("streams", stream, "releases"), query)
  steps <- numbers(answer$items, "t")
  expected <- list(
    kind = "stream", query = answer$stream, first = steps[1], last = steps[length(steps)]
  )
  verified(con, answer, expected)
  totals <- lapply(answer$items, function(item) as.numeric(unlist(item$values)))
  width <- length(totals[[1]])
  columns <- lapply(seq_len(width), function(place) vapply(totals, `[`, 0, place))
  names(columns) <- if (width == 1) "total" else paste0("total_", seq_len(width))
  table <- tibble::as_tibble(c(
    list(t = steps), columns,
    list(
      standard_deviation = numbers(answer$items, "error", "standard_deviation"),
      half_width = numbers(answer$items, "error", "half_width")
    )
  ))
  structure(table, answer = answer)
}

release_table <- function(answer) {
  values <- as.numeric(unlist(answer$values))
  widths <- answer$errors$half_widths
  widths <- if (is.null(widths)) answer$error$half_width else as.numeric(unlist(widths))
  mean <- answer$mean
  table <- tibble::as_tibble(c(
    key_columns(answer$keys),
    list(
      value = values,
      lower = if (is.null(mean)) values - widths else as.numeric(unlist(mean$lower)),
      upper = if (is.null(mean)) values + widths else as.numeric(unlist(mean$upper))
    )
  ))
  structure(table, answer = answer, class = c("penstock_release", class(table)))
}

#' @export
tbl_sum.penstock_release <- function(x, ...) {
  answer <- attr(x, "answer")
  if (is.null(answer)) return(NextMethod())
  c(
    "Release" = paste0(answer$query, " at ", answer$tier, ", ", answer$mechanism, " noise"),
    "Loss" = paste0("epsilon ", format(answer$guarantee$epsilon, digits = 3)),
    "Intervals" = paste0(100 * answer$error$confidence, "%, each by itself")
  )
}

key_columns <- function(keys) {
  sizes <- unique(lengths(keys))
  if (length(keys) > 0 && identical(sizes, 1L) || length(keys) == 0) {
    return(list(key = part_column(lapply(keys, `[[`, 1))))
  }
  if (length(sizes) > 1) {
    texts <- vapply(keys, function(key) paste(unlist(key), collapse = " \u00b7 "), "")
    return(list(key = texts))
  }
  columns <- lapply(seq_len(sizes), function(place) part_column(lapply(keys, `[[`, place)))
  names(columns) <- paste0("key_", seq_len(sizes))
  columns
}

# Numbers stay numbers if all are; otherwise a column has texts.
part_column <- function(parts) {
  if (length(parts) == 0) return(character())
  if (all(vapply(parts, is.numeric, NA))) return(as.numeric(unlist(parts)))
  vapply(parts, as.character, "")
}

numbers <- function(items, ...) {
  path <- c(...)
  vapply(items, function(item) {
    value <- item
    for (name in path) value <- value[[name]]
    if (is.null(value)) NA_real_ else as.numeric(value)
  }, 0, USE.NAMES = FALSE)
}

texts <- function(items, ...) {
  path <- c(...)
  vapply(items, function(item) {
    value <- item
    for (name in path) value <- value[[name]]
    if (is.null(value)) NA_character_ else paste(unlist(value), collapse = ", ")
  }, "", USE.NAMES = FALSE)
}
