-- mean
WITH `typed` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    `ward` AS `c0`,
    CASE WHEN NOT is_nan(`cost`) AND NOT is_inf(`cost`) THEN `cost` END AS `c1`
  FROM `source`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `keys_0`.`position` * 1 AS `key`,
    CAST(floor(
      least(
        greatest(
          CASE
            WHEN abs(`typed`.`c1`) < CAST('0.125' AS FLOAT64)
            THEN CAST('0.0' AS FLOAT64)
            ELSE least(
              greatest(`typed`.`c1`, CAST('-2.0000000000000004' AS FLOAT64)),
              CAST('2.0000000000000004' AS FLOAT64)
            )
          END / CAST('0.5' AS FLOAT64),
          CAST('-2.0' AS FLOAT64)
        ),
        CAST('4.0' AS FLOAT64)
      ) + CAST('0.5' AS FLOAT64)
    ) AS INT64) - (
      -2
    ) AS `value`
  FROM `typed`
  JOIN `keys_0`
    ON `typed`.`c0` = `keys_0`.`value`
  WHERE
    NOT `typed`.`unit` IS NULL AND NOT `typed`.`c1` IS NULL
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(CASE
      WHEN count(*) <= 2
      THEN 2 * sum(CAST(`value` AS BIGNUMERIC)) - (
        CAST('6' AS BIGNUMERIC) * count(*)
      )
      ELSE (
        (
          4 * CAST('2' AS BIGNUMERIC)
        ) * sum(CAST(`value` AS BIGNUMERIC)) + count(*) - mod(
          (
            4 * CAST('2' AS BIGNUMERIC)
          ) * sum(CAST(`value` AS BIGNUMERIC)) + count(*),
          2 * count(*)
        )
      ) / (
        2 * count(*)
      ) - (
        CAST('6' AS BIGNUMERIC) * CAST('2' AS BIGNUMERIC)
      )
    END AS INT64) AS `part`,
    CAST(least(count(*), 2) AS INT64) AS `tally`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part`,
    `tally`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part` AS BIGNUMERIC)) AS `part`,
    sum(CAST(`tally` AS BIGNUMERIC)) AS `tally`
  FROM `chosen`
  WHERE
    `place` <= 2
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-51539607552' AS BIGNUMERIC)),
    CAST('51539607552' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`,
  CAST(least(`totals`.`tally`, CAST('8589934592' AS BIGNUMERIC)) * CAST('6' AS BIGNUMERIC) AS INT64) AS `tally_answer`
FROM `totals`
-- filters
WITH `typed` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    CASE WHEN NOT is_nan(`cost`) AND NOT is_inf(`cost`) THEN `cost` END AS `c0`,
    `urgent` AS `c1`,
    `ward` AS `c2`,
    `day` AS `c3`,
    coalesce(`age`, CAST('5' AS INT64)) AS `c4`
  FROM `source`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `keys_0`.`position` * 1 AS `key`,
    CAST(floor(
      least(
        greatest(
          CASE
            WHEN abs(CAST(`typed`.`c4` AS FLOAT64)) < CAST('0.25' AS FLOAT64)
            THEN CAST('0.0' AS FLOAT64)
            ELSE least(
              greatest(CAST(`typed`.`c4` AS FLOAT64), CAST('-100.00000000000001' AS FLOAT64)),
              CAST('100.00000000000001' AS FLOAT64)
            )
          END / CAST('1.0' AS FLOAT64),
          CAST('-10.0' AS FLOAT64)
        ),
        CAST('100.0' AS FLOAT64)
      ) + CAST('0.5' AS FLOAT64)
    ) AS INT64) AS `value`
  FROM `typed`
  JOIN `keys_0`
    ON `typed`.`c3` = `keys_0`.`value`
  WHERE
    NOT `typed`.`unit` IS NULL
    AND NOT `typed`.`c4` IS NULL
    AND `typed`.`c0` >= CAST('-0.25' AS FLOAT64)
    AND `typed`.`c1` IN (TRUE)
    AND NOT `typed`.`c2` IN ('none')
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(least(
      greatest(sum(CAST(`value` AS BIGNUMERIC)), CAST('-20' AS BIGNUMERIC)),
      CAST('200' AS BIGNUMERIC)
    ) AS INT64) AS `part`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part` AS BIGNUMERIC)) AS `part`
  FROM `chosen`
  WHERE
    `place` <= 2
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-858993459200' AS BIGNUMERIC)),
    CAST('858993459200' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`
FROM `totals`
-- joined conditions
WITH `typed` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    `urgent` AS `c0`,
    CASE WHEN NOT is_nan(`cost`) AND NOT is_inf(`cost`) THEN `cost` END AS `c1`,
    `ward` AS `c2`,
    coalesce(`age`, CAST('5' AS INT64)) AS `c3`,
    `day` AS `c4`
  FROM `source`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `keys_0`.`position` * 1 AS `key`,
    CAST(1 AS INT64) AS `value`
  FROM `typed`
  JOIN `keys_0`
    ON `typed`.`c2` = `keys_0`.`value`
  WHERE
    NOT `typed`.`unit` IS NULL
    AND NOT `typed`.`c0` IN (FALSE)
    AND (
      (
        `typed`.`c1` IS NULL
      )
      OR (
        NOT `typed`.`c2` IN ('b', 'none')
      )
      OR (
        (
          `typed`.`c3` >= CAST('30' AS INT64)
        ) AND (
          NOT `typed`.`c4` IS NULL
        )
      )
    )
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(least(count(*), 2) AS INT64) AS `part`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part` AS BIGNUMERIC)) AS `part`
  FROM `chosen`
  WHERE
    `place` <= 2
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-8589934592' AS BIGNUMERIC)),
    CAST('8589934592' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`
FROM `totals`
-- derived columns
WITH `read` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    CASE WHEN NOT is_nan(`cost`) AND NOT is_inf(`cost`) THEN `cost` END AS `c0`,
    coalesce(`age`, CAST('5' AS INT64)) AS `c1`,
    `urgent` AS `c2`,
    `ward` AS `c3`
  FROM `source`
), `typed` AS (
  SELECT
    `read`.`unit` AS `unit`,
    CASE
      WHEN `read`.`c0` < CAST('1.0' AS FLOAT64)
      THEN CASE
        WHEN `read`.`c1` < CAST('-10' AS INT64)
        THEN CAST('-10' AS INT64)
        WHEN `read`.`c1` > CAST('100' AS INT64)
        THEN CAST('100' AS INT64)
        ELSE `read`.`c1`
      END * CAST('-1' AS INT64) + CAST('7' AS INT64)
      ELSE CAST('1' AS INT64)
    END + (
      CASE
        WHEN `read`.`c1` < CAST('-10' AS INT64)
        THEN CAST('-10' AS INT64)
        WHEN `read`.`c1` > CAST('100' AS INT64)
        THEN CAST('100' AS INT64)
        ELSE `read`.`c1`
      END * CASE
        WHEN `read`.`c1` < CAST('-10' AS INT64)
        THEN CAST('-10' AS INT64)
        WHEN `read`.`c1` > CAST('100' AS INT64)
        THEN CAST('100' AS INT64)
        ELSE `read`.`c1`
      END * CAST('-16384' AS INT64)
    ) AS `c0`,
    CASE
      WHEN `read`.`c2` IS NULL
      THEN 'unknown'
      WHEN `read`.`c1` >= CAST('30' AS INT64)
      THEN `read`.`c3`
      ELSE 'others'
    END AS `c1`
  FROM `read`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `keys_0`.`position` * 1 AS `key`,
    CAST(floor(
      least(
        greatest(
          CASE
            WHEN abs(CAST(`typed`.`c0` AS FLOAT64)) < CAST('0.25' AS FLOAT64)
            THEN CAST('0.0' AS FLOAT64)
            ELSE least(
              greatest(CAST(`typed`.`c0` AS FLOAT64), CAST('-163840093.00000003' AS FLOAT64)),
              CAST('163840093.00000003' AS FLOAT64)
            )
          END / CAST('1.0' AS FLOAT64),
          CAST('-163840093.0' AS FLOAT64)
        ),
        CAST('16384017.0' AS FLOAT64)
      ) + CAST('0.5' AS FLOAT64)
    ) AS INT64) AS `value`
  FROM `typed`
  JOIN `keys_0`
    ON `typed`.`c1` = `keys_0`.`value`
  WHERE
    NOT `typed`.`unit` IS NULL
    AND NOT `typed`.`c0` IS NULL
    AND NOT `typed`.`c0` IN (CAST('-163840000' AS INT64))
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(least(
      greatest(sum(CAST(`value` AS BIGNUMERIC)), CAST('-327680186' AS BIGNUMERIC)),
      CAST('32768034' AS BIGNUMERIC)
    ) AS INT64) AS `part`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part` AS BIGNUMERIC)) AS `part`
  FROM `chosen`
  WHERE
    `place` <= 2
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-1407375682417197056' AS BIGNUMERIC)),
    CAST('1407375682417197056' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`
FROM `totals`
-- columns
WITH `typed` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    `ward` AS `c0`,
    `urgent` AS `c1`
  FROM `source`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `keys_0`.`position` * 1 AS `key`,
    CAST(1 AS INT64) AS `value`,
    `typed`.`c1` AS `flag_0`
  FROM `typed`
  JOIN `keys_0`
    ON `typed`.`c0` = `keys_0`.`value`
  WHERE
    NOT `typed`.`unit` IS NULL
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(least(count(CASE WHEN `flag_0` THEN 1 END), 2) AS INT64) AS `part_0`,
    CAST(least(count(*), 2) AS INT64) AS `tally`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part_0`,
    `tally`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part_0` AS BIGNUMERIC)) AS `part_0`,
    sum(CAST(`tally` AS BIGNUMERIC)) AS `tally`
  FROM `chosen`
  WHERE
    `place` <= 3
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(2 * `totals`.`part_0` - `totals`.`tally`, CAST('-8589934592' AS BIGNUMERIC)),
    CAST('8589934592' AS BIGNUMERIC)
  ) AS INT64) AS `part_0_answer`,
  CAST(least(
    greatest(`totals`.`tally`, CAST('-8589934592' AS BIGNUMERIC)),
    CAST('8589934592' AS BIGNUMERIC)
  ) AS INT64) AS `size_answer`
FROM `totals`
-- string
WITH `typed` AS (
  SELECT
    CAST(`person` AS STRING) AS `unit`,
    `person` AS `open_key`
  FROM `source`
), `kept` AS (
  SELECT
    `typed`.`unit` AS `unit`,
    `typed`.`open_key` AS `key`,
    CAST(1 AS INT64) AS `value`
  FROM `typed`
  WHERE
    NOT `typed`.`unit` IS NULL
    AND length(`typed`.`open_key`) = 3
    AND translate(`typed`.`open_key`, 'bnäö', '') = ''
), `contributed` AS (
  SELECT
    `unit`,
    `key`,
    CAST(least(count(*), 2) AS INT64) AS `part`
  FROM `kept`
  GROUP BY
    `unit`,
    `key`
), `chosen` AS (
  SELECT
    `key`,
    `part`,
    row_number() OVER (
      PARTITION BY `unit`
      ORDER BY to_hex(
        md5(
          CAST(length(`unit`) AS STRING) || ':' || `unit` || CAST(length(CAST(`key` AS STRING)) AS STRING) || ':' || CAST(`key` AS STRING) || CAST(length(@salt) AS STRING) || ':' || @salt
        )
      ), `key`
    ) AS `place`
  FROM `contributed`
), `totals` AS (
  SELECT
    `key`,
    sum(CAST(`part` AS BIGNUMERIC)) AS `part`
  FROM `chosen`
  WHERE
    `place` <= 2
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-8589934592' AS BIGNUMERIC)),
    CAST('8589934592' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`
FROM `totals`
-- sha256_64
WITH `typed` AS (
  SELECT
    `ward` AS `open_key`
  FROM `source`
), `kept` AS (
  SELECT
    substr(to_hex(sha256(`typed`.`open_key`)), 1, 16) AS `key`,
    CAST(1 AS INT64) AS `value`
  FROM `typed`
  WHERE
    NOT `typed`.`open_key` IS NULL
), `totals` AS (
  SELECT
    `key`,
    count(*) AS `part`
  FROM `kept`
  GROUP BY
    `key`
)
SELECT
  `totals`.`key` AS `key`,
  CAST(least(
    greatest(`totals`.`part`, CAST('-4294967296' AS BIGNUMERIC)),
    CAST('4294967296' AS BIGNUMERIC)
  ) AS INT64) AS `part_answer`
FROM `totals`
