"""Choose the connector of a dataset by its engine; engines are imported when they are used."""

from penstock.connectors.connector import Connector, Snapshot
from penstock.connectors.sources import ANYWHERE, Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.sources import in_bucket


def connector_of(dataset: DatasetSpec, sources: Sources = ANYWHERE) -> Connector:
    """Return the connector that reads the dataset, of which only ``statement`` needs no data."""
    match dataset.source.engine:
        case "duckdb" if in_bucket(dataset.source):
            from penstock.connectors.duckdb.lakes import Lakes

            return Lakes(sources)
        case "duckdb":
            from penstock.connectors.duckdb.connector import Files

            return Files(sources)
        case "postgresql":
            from penstock.connectors.postgresql.connector import Views

            return Views(sources)
        case "trino":
            from penstock.connectors.warehouses.trino import Trino
            from penstock.connectors.warehouses.warehouse import Warehouse

            return Warehouse(Trino(), sources.connections)
        case "bigquery":
            from penstock.connectors.warehouses.bigquery import BigQuery
            from penstock.connectors.warehouses.warehouse import Warehouse

            return Warehouse(BigQuery(), sources.connections)
        case "snowflake":
            from penstock.connectors.warehouses.snowflake import Snowflake
            from penstock.connectors.warehouses.warehouse import Warehouse

            return Warehouse(Snowflake(), sources.connections)
        case "spark":
            from penstock.connectors.spark.connector import SparkViews

            return SparkViews(sources)
        case "clickhouse":
            from penstock.connectors.clickhouse.connector import ClickHouseViews

            return ClickHouseViews(sources)
    raise RuntimeError("pushed vectors are not read")


def snapshot_of(dataset: DatasetSpec) -> Snapshot:
    """Return how the dataset's data are recognized when they are read again."""
    return connector_of(dataset).snapshot
