/**
 * What each operation should reach, and for those that may miss it: where the time goes, and what was tried. The page prints
 * the text of a row only if the figures of the last run miss its target.
 *
 * @typedef {object} Target
 * @property {string[]} rows what the benchmark calls them
 * @property {{ ratio?: number, rate?: number }} target a ratio to the minimum, or a rate
 * @property {string} text
 */

const SQL = ['sqlite', 'mariadb', 'postgres'];
const STORES = ['memory', 'sqlite', 'redis', 'mariadb', 'postgres'];

function rowsOf(stores, operation) {
  return stores.map((store) => `${store}, ${operation}`);
}

/** @type {readonly Target[]} */
export const TARGETS = [
  {
    rows: rowsOf(SQL, 'append, one after the other'),
    target: { ratio: 0.9 },
    text: `An append is one message and one commit, also with usage. In SQLite, 60 % of the time is the commit: an append changes
7 to 12 pages and the minimum 5, as there are indexes for events by id and group, and rows for usage, and each page goes to the
log with a checksum. The database takes a tenth, and all JavaScript a quarter. In MariaDB and PostgreSQL a third of the CPU is the service
and the plan, a fifth garbage, an eighth writes to the socket; the server runs up to seven statements, or one with as many parts, where the
minimum has two that are prepared. Done: remembered records instead of a read, usage in the same message, a rarer checkpoint of SQLite's log,
prepared statements in PostgreSQL. Not done: prepared statements in MariaDB, each of which needs a message; usage of a
session in its row.`,
  },
  {
    rows: rowsOf(SQL, 'append, 64 sessions in flight'),
    target: { ratio: 2 },
    text: `A batch of 64 appends is one commit, so what is left is work for each append: check, copy, plan, encoding
and garbage are two fifths of the time in SQLite, where the commit takes as much, and two thirds of the CPU in MariaDB and PostgreSQL. All
appends of a user add to the same row of usage, so that batches with the same user commit one after another.`,
  },
  {
    rows: ['redis, append, one after the other'],
    target: { ratio: 0.6 },
    text: `More than a quarter of the client's CPU is writes to the socket, a tenth garbage. The
script takes about 45 µs of the server, and 15 more with usage; the minimal one takes 9. It makes 12 calls, and 16 with usage: for event,
ids, record, state, two indexes of lists, sums of user and app, and watchers. Done: remembered records, packed texts, sums without tables, no digests,
several appends in one script.`,
  },
  {
    rows: ['redis, append, 64 sessions in flight'],
    target: { ratio: 0.8 },
    text: `Up to 32 appends are one script. The server takes about 38 µs for each of them, 10 of which are usage, and the minimum 9,
for the calls named above. The client takes 40 µs, of which a quarter is garbage. Larger scripts would block the server longer.`,
  },
  {
    rows: ['memory, append, one after the other'],
    target: { rate: 60_000 },
    text: `An append takes 15 µs of CPU, 2.2 times the 7 µs of writing and parsing the event. A third of it is check and copy of the event, a fifth
garbage, a seventh the store. Done: one walk that checks, copies and counts, no digest, no parse, text outside the heap, sums in place.`,
  },
  {
    rows: rowsOf(['redis', ...SQL], 'last 20 of 10,000'),
    target: { ratio: 0.9 },
    text: `A read is one script in Redis, one message in PostgreSQL, two in MariaDB, and three statements in SQLite. The minimum reads 20 rows without marks, shared state,
expiry and a check of sizes. Of the CPU time, the write to the socket takes a third in MariaDB and a fifth in PostgreSQL and Redis, parsing of the
events a tenth, garbage a tenth; the rest is the driver, the service and the view, a few per cent each. Done: record, events, summary and state in one statement
in PostgreSQL, without a transaction around it. Tried: the same statement in SQLite and MariaDB, which took a tenth longer than small ones. Not done: prepared statements in MariaDB, each of which needs a message on each connection.`,
  },
  {
    rows: rowsOf(['redis', ...SQL], 'get of 1,000 events'),
    target: { ratio: 0.9 },
    text: `The minimum, which hardly does more than parse, already takes most of the CPU. The rest is the heads of the events, which
the minimum does not have, the sum of their sizes in SQL, and the objects of the view. In SQLite, the driver takes as long as the service. Done: one
message instead of two in PostgreSQL.`,
  },
  {
    rows: rowsOf(STORES, 'list of 1,000 sessions'),
    target: { ratio: 0.8 },
    text: `Each session comes with a record of 24 values, metadata and the merged state of three scopes, and becomes an object
through which one can append and save; the minimum returns id, time and one parsed text. In memory, session objects and garbage are a third
of the time each. In SQLite, the driver takes half, and the record a sixth. Done: records as one text, in SQLite by one PRINTF, which takes half as long as many
concatenations; state that is made when somebody looks, shared parts built once. Tried: states as one text in the row of their session, which saves
1 of 5 ms of the queries in SQLite.`,
  },
  {
    rows: rowsOf(STORES, 'create'),
    target: { ratio: 0.6 },
    text: `A session is in several indexes, its state is in rows or a hash, and it returns the state of user and app. In SQL, creating it
writes to two tables with eight indexes, keys included; the minimum writes to one with two. In SQLite, two thirds of the time and more are the commit. In Redis, the script
makes 17 calls where the minimum makes 3: it checks the type of each key before it writes. In memory, the minimum is one entry in a Map; a quarter of a
create is garbage, an eighth places in lists. Done: one message instead of three in MariaDB and PostgreSQL, no query before the insert, one place for the lists of
user and app.`,
  },
  {
    rows: ['Express, append'],
    target: { ratio: 0.75 },
    text: `In a process that serves both routes, Node's HTTP and sockets take half of the time, Express and Nest a sixth, the service 5 %, and
the store and the routes of the package 1 % each. The bare route has no access rules, checks no body and builds no answer.`,
  },
  {
    rows: ['Fastify, append'],
    target: { ratio: 0.5 },
    text: `The same, beside a bare route that takes a fraction of that on Express: HTTP and sockets half, Fastify and Nest a tenth, the
service 7 %.`,
  },
];

/** The targets that these rows miss, with the rows that do. */
export function missedTargets(rows) {
  return TARGETS.flatMap(({ rows: names, target, text }) => {
    const missed = rows.filter((row) => names.includes(row.what) && !reaches(row, target));
    return missed.length === 0 ? [] : [{ missed, target, text: text.replaceAll('\n', ' ') }];
  });
}

function reaches({ ours, ratio }, { ratio: least, rate }) {
  if (rate !== undefined) return ours >= rate;
  return ratio >= least;
}
