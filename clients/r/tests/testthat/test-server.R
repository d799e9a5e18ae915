test_that("a release is a tibble with intervals", {
  ann <- as_user("ann")
  release <- penstock_release(ann, "visits")
  expect_named(release, c("key", "value", "lower", "upper"))
  expect_equal(release$key, c("a", "b"))
  expect_true(all(release$lower < release$value & release$value < release$upper))
  answer <- attr(release, "answer")
  expect_identical(release$upper, release$value + answer$error$half_width)
  expect_identical(penstock_release(ann, "visits", tier = "public")$value, release$value)
  expect_identical(penstock_values(ann, answer$id)$value, release$value)
  expect_output(print(release), "visits at public, gaussian noise")
  expect_gt(penstock_verify(ann)$size, answer$receipt$index)
})

test_that("lists are tibbles with one row for each tier", {
  root <- as_user("root")
  expect_equal(penstock_tiers(root)$tier, c("public", "internal"))
  expect_equal(penstock_datasets(root)$epsilon, c(1, 4))
  queries <- penstock_queries(root, "sites")
  expect_equal(queries$query, c("visits", "visits", "secret"))
  expect_equal(queries$tier, c("public", "internal", "internal"))
  expect_identical(penstock_preview(root, "visits")$level, queries$level[1:2])
  expect_equal(penstock_budget(root, "sites")$granted_epsilon, c(1, 4))
  expect_true("ann" %in% penstock_users(root)$user)
  expect_equal(nrow(penstock_streams(root)), 0)
  expect_equal(penstock_history(as_user("ann"))$query, "visits")
  losses <- penstock_exposure(as_user("olga"), c("ann", "ian"), "sites")
  expect_equal(losses$loss, c("released", "could_be", "independent"))
})

test_that("pages are followed to the end", {
  root <- as_user("root")
  items <- penstock:::items_of(root, "/tiers")
  first <- penstock_call(root, "GET", "/tiers", list(limit = 1))
  expect_length(first$items, 1)
  expect_length(items, 2)
})

test_that("an admin acts through the call", {
  root <- as_user("root")
  made <- penstock_call(root, "POST", "/users", body = list(
    name = "r user", roles = list("analyst"), clearance = "public"
  ))
  expect_true(made$active)
  path <- c("users", "r user")
  changed <- penstock_call(root, "PATCH", path, body = list(clearance = "internal"))
  expect_equal(changed$clearance, "internal")
  expect_false(penstock_call(root, "DELETE", path)$active)
})

test_that("refusals are conditions with their data", {
  ann <- as_user("ann")
  root <- as_user("root")
  refused <- expect_error(
    penstock_release(ann, "visits", tier = "internal"), class = "penstock_clearance_too_low"
  )
  expect_s3_class(refused, "penstock_forbidden")
  expect_s3_class(refused, "penstock_api_error")
  expect_equal(c(refused$status, refused$code), c("403", "CLEARANCE_TOO_LOW"))
  expect_error(penstock_release(ann, "secret"), class = "penstock_not_found")
  expect_error(penstock_users(ann), class = "penstock_forbidden")
  expect_error(penstock_me(as_user("revoked")), class = "penstock_not_authenticated")
  expect_error(
    penstock_release(ann, "visits", tier = "public", rho = 1), class = "penstock_invalid_argument"
  )
  query <- list(
    name = "dear", dataset = "sites", keys = list("a"), values = list(1),
    sensitivity = list(l1 = 1, l2 = 1, linf = 1), mechanism = "gaussian",
    levels = list(public = list(epsilon = 50))
  )
  exhausted <- expect_error(
    penstock_call(root, "POST", "/queries", body = query), class = "penstock_budget_exhausted"
  )
  expect_equal(exhausted$data$tier, "public")
  invalid <- expect_error(
    penstock_call(root, "POST", "/users", body = list(name = "eve", roles = list("king"))),
    class = "penstock_invalid_input"
  )
  expect_length(invalid$errors, 1)
})

test_that("a log that differs from what is remembered is refused", {
  file <- tempfile(fileext = ".json")
  ann <- as_user("ann", checkpoints = file)
  penstock_verify(ann)
  again <- as_user("ann", checkpoints = file)
  kept <- penstock:::remembered(again)
  expect_identical(kept$checkpoint$root, ann$known$checkpoint$root)
  again$known$checkpoint$root <- strrep("00", 32)
  expect_error(penstock_verify(again), class = "penstock_log_refused")
  again$known <- kept
  again$known$checkpoint$size <- kept$checkpoint$size + 99
  expect_error(penstock_verify(again), "truncated", class = "penstock_log_refused")
  again$known <- kept
  again$known$key <- strrep("11", 32)
  expect_error(penstock_release(again, "visits"), class = "penstock_log_refused")
})

test_that("an answer that its leaf does not state is refused", {
  ann <- as_user("ann")
  answer <- attr(penstock_release(ann, "visits"), "answer")
  expected <- list(kind = "release", query = "visits", release = answer$id)
  expect_silent(penstock:::verified(ann, answer, expected))
  lies <- list(
    list(dataset = "others"),
    list(level = list(parameter = "variance", value = 1)),
    list(receipt = list(index = 9999)),
    list(receipt = list(leaf = paste0(answer$receipt$leaf, " ")))
  )
  for (lie in lies) {
    changed <- utils::modifyList(answer, lie)
    expect_error(penstock:::verified(ann, changed, expected), class = "penstock_log_refused")
  }
  ann$name <- "bob"
  expect_error(penstock_release(ann, "visits"), "user differs", class = "penstock_log_refused")
})

test_that("a server that is away is reported, without the token", {
  away <- penstock("http://127.0.0.1:9", "pst_secret", pauses = 0)
  cnd <- expect_error(penstock_me(away), class = "penstock_not_reachable")
  expect_false(any(grepl("pst_secret", capture.output(print(cnd)))))
})
