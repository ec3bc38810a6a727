const { refused } = require('./check-without-peers.cjs');

const withDatabase = (database) => ({ provider: 'typeorm', database });

/** The same app with TypeORM, yet no driver. */
module.exports = async function checkWithoutDrivers(load) {
  await load('reflect-metadata');
  await refused(load, withDatabase({ database: ':memory:' }), 'libsql');
  await refused(load, withDatabase({ url: 'mysql://root@127.0.0.1:1/sessions' }), 'mysql2');
  await refused(load, withDatabase({ url: 'mariadb://root@127.0.0.1:1/sessions' }), 'mysql2');
  await refused(load, withDatabase({ url: 'postgres://root@127.0.0.1:1/sessions' }), 'pg');
};
