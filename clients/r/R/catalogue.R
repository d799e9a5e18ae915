#' Show who you are
#'
#' @inheritParams penstock_call
#' @return A list with `name`, `roles`, `clearance` and `token_expires`.
#' @export
penstock_me <- function(con) penstock_call(con, "GET", "/me")

#' List datasets, with one row for each tier's budget
#'
#' @inheritParams penstock_call
#' @return A tibble.
#' @export
penstock_datasets <- function(con) {
  items <- items_of(con, "/datasets")
  rows <- unlist(lapply(items, function(item) {
    lapply(names(item$budgets), function(tier) {
      list(item = item, tier = tier, budget = item$budgets[[tier]])
    })
  }), recursive = FALSE)
  tibble(
    dataset = texts(rows, "item", "name"),
    version = numbers(rows, "item", "version"),
    neighboring = texts(rows, "item", "neighboring"),
    tier = texts(rows, "tier"),
    epsilon = numbers(rows, "budget", "epsilon"),
    delta = numbers(rows, "budget", "delta")
  )
}

#' List queries, with one row for each tier of each
#'
#' @inheritParams penstock_call
#' @param dataset The name of a dataset, or NULL for all.
#' @return A tibble with the level, the loss and the margin of error that each tier gets.
#' @export
penstock_queries <- function(con, dataset = NULL) {
  rows <- by_tier(items_of(con, "/queries", list(dataset = dataset)))
  tibble(
    query = texts(rows, "item", "name"),
    dataset = texts(rows, "item", "dataset"),
    mechanism = texts(rows, "item", "mechanism"),
    values = numbers(rows, "item", "dimension"),
    status = texts(rows, "item", "status"),
    !!!tier_columns(rows)
  )
}

#' Show what a query would cost at each tier, or what a registered one did
#'
#' @inheritParams penstock_call
#' @param query The name of a registered query, or a spec as a list.
#' @return A tibble with one row for each tier; nothing is changed.
#' @export
penstock_preview <- function(con, query) {
  body <- if (is.character(query)) list(query = query) else query
  answer <- penstock_call(con, "POST", "/queries/preview", body = body)
  rows <- by_tier(list(answer))
  table <- tibble(!!!tier_columns(rows), charged_share = numbers(rows, "tier", "charge", "share"))
  structure(table, answer = answer)
}

#' Show the budget of each tier of a dataset
#'
#' @inheritParams penstock_queries
#' @return A tibble with what each tier was granted, has spent and has left.
#' @export
penstock_budget <- function(con, dataset) {
  tiers <- penstock_call(con, "GET", c("datasets", dataset, "budget"))$tiers
  tibble(
    tier = texts(tiers, "tier"),
    granted_epsilon = numbers(tiers, "granted", "epsilon"),
    spent_epsilon = numbers(tiers, "spent", "epsilon"),
    remaining_epsilon = numbers(tiers, "remaining", "epsilon"),
    delta = numbers(tiers, "granted", "delta")
  )
}

#' List what was released to you; for auditors, to everybody
#'
#' @inheritParams penstock_call
#' @param query,user Only releases of this query, or to this user.
#' @return A tibble with one row for each release, without values.
#' @export
penstock_history <- function(con, query = NULL, user = NULL) {
  items <- items_of(con, "/releases", list(query = query, user = user))
  tibble(
    released_at = texts(items, "released_at"),
    user = texts(items, "user"),
    query = texts(items, "query"),
    tier = texts(items, "tier"),
    level = numbers(items, "level", "value"),
    epsilon = numbers(items, "guarantee", "epsilon"),
    id = texts(items, "id")
  )
}

#' Show what users could learn together
#'
#' @inheritParams penstock_queries
#' @param users Names of users; others than oneself are for auditors.
#' @return A tibble with one row for each loss: `released`, `could_be` (the bound) and
#'   `independent`, what the same releases would have cost if each were drawn independently.
#' @export
penstock_exposure <- function(con, users, dataset = NULL) {
  if (length(users) == 0 || any(users == "") || any(grepl(",", users, fixed = TRUE))) {
    refuse_argument("Name at least one user; a name contains no comma.")
  }
  query <- list(users = paste(users, collapse = ","), dataset = dataset)
  answer <- penstock_call(con, "GET", "/audit/exposure", query)
  losses <- answer[c("released", "could_be", "independent")]
  table <- tibble(
    loss = names(losses), epsilon = numbers(losses, "epsilon"), delta = numbers(losses, "delta")
  )
  structure(table, answer = answer)
}

#' List streams, with one row for each tier of each
#'
#' @inheritParams penstock_queries
#' @return A tibble.
#' @export
penstock_streams <- function(con, dataset = NULL) {
  rows <- by_tier(items_of(con, "/streams", list(dataset = dataset)))
  tibble(
    stream = texts(rows, "item", "name"),
    dataset = texts(rows, "item", "dataset"),
    length = numbers(rows, "item", "length"),
    following = numbers(rows, "item", "next"),
    !!!tier_columns(rows)
  )
}

#' List tiers, from the least trusted to the most trusted
#'
#' @inheritParams penstock_call
#' @return A tibble.
#' @export
penstock_tiers <- function(con) {
  items <- items_of(con, "/tiers")
  tibble(
    tier = texts(items, "name"), rank = numbers(items, "rank"),
    description = texts(items, "description")
  )
}

#' List users, for admins
#'
#' @inheritParams penstock_call
#' @return A tibble.
#' @export
penstock_users <- function(con) {
  items <- items_of(con, "/users")
  tibble(
    user = texts(items, "name"), roles = texts(items, "roles"),
    clearance = texts(items, "clearance"), active = vapply(items, function(item) item$active, NA)
  )
}

by_tier <- function(items) {
  unlist(lapply(items, function(item) {
    lapply(item$tiers, function(tier) list(item = item, tier = tier))
  }), recursive = FALSE)
}

tier_columns <- function(rows) {
  list(
    tier = texts(rows, "tier", "tier"),
    parameter = texts(rows, "tier", "level", "parameter"),
    level = numbers(rows, "tier", "level", "value"),
    epsilon = numbers(rows, "tier", "guarantee", "epsilon"),
    delta = numbers(rows, "tier", "guarantee", "delta"),
    standard_deviation = numbers(rows, "tier", "error", "standard_deviation"),
    half_width = numbers(rows, "tier", "error", "half_width"),
    confidence = numbers(rows, "tier", "error", "confidence")
  )
}
