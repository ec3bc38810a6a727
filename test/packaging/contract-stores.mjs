/** Where the servers are; the usual places of this machine unless the environment says otherwise. */
const ADDRESSES = {
  mysql: process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306',
  postgres: process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  redis: process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
};

/** The store whose contract is to be proven, as an app of `consumer` is told. */
export function contractOf(store) {
  return { store, url: ADDRESSES[store] };
}
