#' Connect to a Penstock server as one user
#'
#' The token is sent to this server only: redirects are not followed, and plain http is refused for
#' anything but this machine. Printing a connection does not show it.
#'
#' @param url The server's address; by default `PENSTOCK_URL`, else this machine.
#' @param token Your token; by default `PENSTOCK_TOKEN`.
#' @param timeout Seconds to wait for each answer.
#' @param insecure Allow plain http to other machines.
#' @param pauses Seconds to wait after each lost answer before a request is sent again.
#' @param checkpoints A file that remembers the newest checkpoint of each server's log between
#'   sessions; by default it is remembered as long as the connection is kept.
#' @return A connection, the first argument of all other functions.
#' @examples
#' con <- penstock("https://penstock.example.org", token = "pst_...")
#' con
#' @export
penstock <- function(url = Sys.getenv("PENSTOCK_URL", "http://127.0.0.1:8080"),
                     token = Sys.getenv("PENSTOCK_TOKEN"),
                     timeout = 60,
                     insecure = FALSE,
                     pauses = c(0.25, 0.5, 1),
                     checkpoints = NULL) {
  if (!grepl("^[!-~]+$", token)) {
    refuse_argument("The token is missing, or has characters that no token has.")
  }
  con <- new.env(parent = emptyenv())
  con$url <- checked_url(url, insecure)
  con$token <- token
  con$timeout <- timeout
  con$pauses <- pauses
  con$checkpoints <- checkpoints
  con$known <- NULL
  con$name <- NULL
  structure(con, class = "penstock_connection")
}

#' @export
print.penstock_connection <- function(x, ...) {
  cat("<penstock_connection> ", x$url, "\n", sep = "")
  invisible(x)
}

#' @export
format.penstock_connection <- function(x, ...) paste0("<penstock_connection> ", x$url)

#' @importFrom utils str
#' @export
str.penstock_connection <- function(object, ...) print(object)

checked_url <- function(url, insecure) {
  parts <- tryCatch(httr2::url_parse(url), error = function(cnd) NULL)
  scheme <- parts$scheme
  if (is.null(scheme) || !scheme %in% c("http", "https") || is.null(parts$hostname)) {
    refuse_argument("The server's URL must look like https://penstock.example.org.")
  }
  if (!is.null(parts$username) || !is.null(parts$password)) {
    refuse_argument("The server's URL contains a user name or password; pass the token instead.")
  }
  if (length(parts$query) > 0 || !is.null(parts$fragment)) {
    refuse_argument("The server's URL may contain a path, but no ? and no #.")
  }
  is_loopback <- grepl("^(localhost|127(\\.[0-9]+){3}|\\[?::1\\]?)$", parts$hostname)
  if (scheme == "http" && !insecure && !is_loopback) {
    refuse_argument(paste0(
      "Plain http to ", parts$hostname, " would let others on the network read the token. Use",
      " https, or allow it with insecure = TRUE."
    ))
  }
  sub("/+$", "", url)
}
