/** The time of the server in milliseconds. Other functions depend on daylight saving time. */
export const MYSQL_NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000";

/** The time of the server in milliseconds, not of the beginning of the transaction. */
export const POSTGRES_NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
