#' Call any operation of the API
#'
#' @param con A connection, from [penstock()].
#' @param method GET, POST, PUT, PATCH or DELETE.
#' @param path The operation's path behind `/api/v1`. Names in it are encoded if they are given as
#'   a vector, such as `c("users", name)`.
#' @param query A named list of parameters behind the question mark; NULL is left out.
#' @param body A list that is sent as JSON. Write vectors that may have one element as lists.
#' @return The parsed answer, as lists. Integers beyond 2^53 are texts of their digits.
#' @details A GET is sent again if its answer is lost, and so is a POST, under one
#'   `Idempotency-Key`, unless the server takes none for it. A refusal is a condition of class
#'   `penstock_api_error` and of one that says which: `penstock_invalid_input`,
#'   `penstock_not_authenticated`, `penstock_forbidden`, `penstock_clearance_too_low`,
#'   `penstock_not_found`, `penstock_conflict`, `penstock_budget_exhausted`,
#'   `penstock_too_many_requests`, `penstock_unavailable`. It has `status`, `code`, `detail`,
#'   `errors` and `data`. Other classes are `penstock_invalid_argument`, `penstock_proposed`,
#'   `penstock_not_reachable`, `penstock_protocol_error` and `penstock_log_refused`; all are
#'   `penstock_error`.
#' @examples
#' \dontrun{
#' penstock_call(con, "PATCH", c("users", "eve"), body = list(clearance = "internal"))
#' tryCatch(
#'   penstock_release(con, "visits", tier = "internal"),
#'   penstock_clearance_too_low = function(cnd) message(cnd$detail)
#' )
#' }
#' @export
penstock_call <- function(con, method, path, query = list(), body = NULL) {
  stopifnot(inherits(con, "penstock_connection"))
  path <- encoded_path(path)
  request <- httr2::request(paste0(con$url, "/api/v1", path))
  request <- httr2::req_method(request, method)
  request <- httr2::req_auth_bearer_token(request, con$token)
  request <- httr2::req_headers(request, Accept = "application/json")
  request <- httr2::req_user_agent(request, "penstock-r/0.1.0")
  request <- httr2::req_timeout(request, con$timeout)
  request <- httr2::req_options(request, followlocation = FALSE)
  request <- httr2::req_error(request, is_error = function(resp) FALSE)
  request <- httr2::req_url_query(request, !!!Filter(Negate(is.null), query))
  if (method == "POST" || !is.null(body)) {
    text <- if (length(body) == 0) "{}" else json_text(body)
    request <- httr2::req_body_raw(request, charToRaw(enc2utf8(text)), "application/json")
  }
  is_post <- method == "POST"
  is_once <- if (is_post) grepl(once, path) else method != "GET"
  if (is_post && !is_once && !grepl(repeatable, path)) {
    request <- httr2::req_headers(request, `Idempotency-Key` = random_key())
  }
  performed(con, request, if (is_once) numeric() else con$pauses)
}

repeatable <- "/(preview|dummy|releases)$"
once <- "/(requests|comments|withdraw|cosignatures)$"

performed <- function(con, request, pauses) {
  for (pause in pauses) {
    answer <- tryCatch(
      list(answer_of(con, request)),
      penstock_not_reachable = function(cnd) NULL,
      penstock_unavailable = function(cnd) NULL
    )
    if (!is.null(answer)) return(answer[[1]])
    Sys.sleep(pause)
  }
  answer_of(con, request)
}

answer_of <- function(con, request) {
  response <- tryCatch(
    httr2::req_perform(request),
    error = function(cnd) {
      stop_penstock("not_reachable", paste0(con$url, " cannot be reached: ", reason_of(cnd)))
    }
  )
  status <- httr2::resp_status(response)
  type <- httr2::resp_content_type(response)
  text <- if (length(response$body) == 0) "" else httr2::resp_body_string(response, "UTF-8")
  if (status < 200 || (status >= 300 && status < 400)) {
    stop_penstock("protocol_error", paste0(
      "The answer is a redirection (status ", status, "), which is not followed, because the token",
      " would be sent along. Set the URL to the server's own address."
    ))
  }
  if (status >= 400) {
    refuse(status, if (identical(type, "application/problem+json")) parsed(text))
  }
  if (!identical(type, "application/json")) {
    stop_penstock("protocol_error", "The answer is not JSON; check the URL.")
  }
  answer <- parsed(text)
  if (status == 202) {
    stop_penstock("proposed", paste0(
      "Nothing was done yet: under the two-person rule another admin must approve proposal ",
      answer$id, "."
    ), proposal = answer$id)
  }
  answer
}

# Yield all items of a list, page by page.
items_of <- function(con, path, query = list()) {
  items <- list()
  cursor <- NULL
  repeat {
    page <- penstock_call(con, "GET", path, c(query, list(limit = 1000, cursor = cursor)))
    items <- c(items, page$items)
    if (is.null(page$next_cursor)) return(items)
    if (identical(page$next_cursor, cursor)) {
      stop_penstock("protocol_error", "The list names the same page again as its next one.")
    }
    cursor <- page$next_cursor
  }
}

by_status <- c(
  "400" = "invalid_input", "401" = "not_authenticated", "403" = "forbidden", "404" = "not_found",
  "409" = "conflict", "413" = "invalid_input", "415" = "invalid_input", "422" = "invalid_input",
  "429" = "too_many_requests", "502" = "unavailable", "503" = "unavailable", "504" = "unavailable"
)
by_code <- c(CLEARANCE_TOO_LOW = "clearance_too_low", BUDGET_EXHAUSTED = "budget_exhausted")
members <- c("type", "title", "status", "detail", "code", "errors", "request_id")

refuse <- function(status, problem) {
  kind <- unname(by_status[as.character(status)])
  if (!is.character(problem$code)) {
    if (!status %in% c(429, 502, 503, 504)) {
      stop_penstock("protocol_error", paste0(
        "The answer has status ", status, ", and is not how a Penstock server refuses."
      ))
    }
    problem <- list(
      code = "GATEWAY", title = paste("HTTP status", status),
      detail = "A gateway before the server answered in its place."
    )
  }
  special <- unname(by_code[problem$code])
  stop_penstock(
    stats::na.omit(c(special, kind, "api_error")),
    paste0(problem$title, ": ", problem$detail, " (", problem$code, ")"),
    status = status, code = problem$code, detail = problem$detail, errors = problem$errors,
    request_id = problem$request_id, data = problem[setdiff(names(problem), members)]
  )
}

refuse_argument <- function(message) stop_penstock("invalid_argument", message)

stop_penstock <- function(kinds, message, ...) {
  classes <- c(paste0("penstock_", kinds), "penstock_error")
  rlang::abort(message, class = classes, call = NULL, ...)
}

reason_of <- function(cnd) {
  parent <- cnd$parent
  conditionMessage(if (is.null(parent)) cnd else parent)
}

parsed <- function(text) {
  tryCatch(
    jsonlite::fromJSON(text, simplifyVector = FALSE, bigint_as_char = TRUE),
    error = function(cnd) {
      stop_penstock("protocol_error", "The answer is declared as JSON but cannot be parsed.")
    }
  )
}

# Return JSON with every digit that a number has: jsonlite writes 15 of the 17 that doubles need.
json_text <- function(value) {
  if (is.null(value)) return("null")
  if (is.list(value) || length(value) != 1) {
    parts <- vapply(value, json_text, "")
    if (is.null(names(value))) return(paste0("[", paste(parts, collapse = ","), "]"))
    names <- vapply(names(value), json_text, "")
    return(paste0("{", paste0(names, ":", parts, collapse = ","), "}"))
  }
  if (is.logical(value) && !is.na(value)) return(tolower(value))
  if (is.character(value) && !is.na(value)) return(quoted(value))
  if (!is.numeric(value) || !is.finite(value)) {
    refuse_argument("A body consists of what JSON has: texts, finite numbers and lists.")
  }
  for (digits in 15:17) {
    text <- formatC(value, digits = digits, format = "g", width = 1)
    if (as.numeric(text) == value) break
  }
  text
}

quoted <- function(text) as.character(jsonlite::toJSON(enc2utf8(text), auto_unbox = TRUE))

encoded_path <- function(path) {
  if (length(path) == 1 && startsWith(path, "/")) return(path)
  if (any(path %in% c("", ".", ".."))) {
    refuse_argument("A name has at least one character, and is neither . nor ..")
  }
  paste0("/", vapply(path, encoded, ""), collapse = "")
}

encoded <- function(name) curl_escape(enc2utf8(name))

curl_escape <- function(text) {
  bytes <- charToRaw(text)
  plain <- grepl("[A-Za-z0-9_.~-]", rawToChar(bytes, multiple = TRUE), useBytes = TRUE)
  paste0(ifelse(plain, rawToChar(bytes, multiple = TRUE), sprintf("%%%02X", as.integer(bytes))),
    collapse = ""
  )
}

random_key <- function() paste(as.character(openssl::rand_bytes(16)), collapse = "")
