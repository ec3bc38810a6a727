/**
 * What each operation should reach, and for those that may miss it: where the time goes, and what was tried. Shares are of
 * the time of the process, by `node --cpu-prof`; calls and pages are counted. The page marks those that the last run missed.
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
    rows: ['mariadb, append, one after the other', 'postgres, append, one after the other'],
    target: { ratio: 1 },
    text: `An append is one message and one commit, also with usage: it compares the stamp of the session, and writes. Of the time of the process a third is
the service and the plan, a tenth the write to the socket, an eighth garbage; the server runs up to seven statements, or one with as many parts, where the
minimum has two that are prepared. Foreign keys are a tenth of PostgreSQL's time for an append. Done: no index by the millisecond (196 of 200 updates in
PostgreSQL change no index), prepared statements in PostgreSQL, usage of a session in its row. Not done: prepared statements in MariaDB, each of which needs a message;
sums of users and apps from the rows of their sessions, since these sums stay when a session ends; appends without foreign keys, since
a session and what belongs to it would then be removed in two steps.`,
  },
  {
    rows: ['sqlite, append, one after the other'],
    target: { ratio: 0.7 },
    text: `Two thirds of the time are the commit: a plain append, also with state, changes 6.5 pages, with usage 8.7, and the minimum 5, as there are indexes for events by id and group, and
rows for the usage of user and app, and each page goes to the log with a checksum. The statements take a twelfth, and all JavaScript a fifth. Done: no index by time, a small state
and the usage of a session in its row, one order of statements, a rarer checkpoint of SQLite's log.`,
  },
  {
    rows: ['mariadb, append, 64 sessions in flight'],
    target: { ratio: 2 },
    text: `A batch of 64 appends is one commit. The client takes about 50 µs of CPU for an append, where one of the minimum takes 90 with its own commit: a sixth is
garbage, a tenth the text of the statements, a tenth the write to the socket. All appends of a user add to the same row of usage, so that batches
with the same user commit one after another.`,
  },
  {
    rows: ['postgres, append, 64 sessions in flight'],
    target: { ratio: 4 },
    text: `The client takes about 60 µs of CPU for an append: an eighth is garbage, an eighth the write to the socket, a twelfth the arrays of parameters. The server
takes about 110 µs: one statement with a part for each table, of which foreign keys are a tenth and the rows of usage a sixth. Done: no retry of what
was overtaken, but an answer in the same message; no index by time.`,
  },
  {
    rows: ['sqlite, append, 64 sessions in flight'],
    target: { ratio: 5 },
    text: `A batch of 64 appends is one commit, and still changes 3 to 4 pages for each session. The commit takes two fifths of the time, the statements a fifth, JavaScript
a third: check, copy, plan and garbage.`,
  },
  {
    rows: ['redis, append, one after the other'],
    target: { ratio: 0.6 },
    text: `The script takes about four times as long as the minimal one. It makes 5 calls: record with ids, two indexes of lists, record with state and event, and
watchers. A call costs a script 5,000 to 8,000 of its 140,000 to 200,000 instructions, an argument about 1,300. The client takes about 45 µs, of which a fifth is garbage and a
seventh the write to the socket. Done: the script decides nothing; record, events, ids, groups and usage are one hash (27 % fewer instructions in a session of a hundred
events, whose ids were a small hash that is searched from its beginning). Tried: without PUBLISH and without the time of the server, 3 % each; without
the functions of rare writes, 1 %. Not done: an index of lists by a bucket of time, which would save 2 % here and 10 % in flight.`,
  },
  {
    rows: ['redis, append, 64 sessions in flight'],
    target: { ratio: 0.8 },
    text: `Up to 32 appends are one script, for the calls named above; that is 42 % fewer instructions for each than with several hashes, and half with usage, whose sums a
script reads and writes once. Of the rest, a third is calls, a seventh the arguments, a tenth the indexes of lists. The client takes
40 µs. Tried: 16, 8 and 4 appends in a script, so that client and server overlap, which made no difference on two cores.`,
  },
  {
    rows: ['memory, append, one after the other', 'memory, append, 64 sessions in flight'],
    target: { rate: 100_000 },
    text: `An append takes 14 µs of CPU once the code is compiled and while few events are stored: a fifth is garbage, a sixth the check and the copy of the event, a tenth
the plan of the write, a twentieth the object that is kept; the rest is spread over forty files, none of which takes a twentieth. The more events are stored, the longer
garbage takes, on both sides. Done: one walk that checks, copies and counts, no digest, no text, no parse, a plan instead of rules of its own.`,
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
message instead of two in PostgreSQL; a plain sum of the sizes, and a running one only if they do not fit. Not done: reads without
ids and digests, with which the driver of SQLite alone took 0.34 ms less.`,
  },
  {
    rows: rowsOf(STORES, 'list of 1,000 sessions'),
    target: { ratio: 0.8 },
    text: `Each session comes with a record of 24 values, metadata and the merged state of three scopes, and becomes an object
through which one can append and save; the minimum returns id, time and one parsed text. In memory, half of the time are the session objects, of
which three properties that are defined one by one take most. In SQLite, the driver takes a third of it, in Redis the script more than half. Done: the record and a
small state are texts that an append writes, three columns for each session, a list begins with its first statement; a record is read from left to right,
and its text is remembered only for a write; metadata is one parse; state objects that are made when somebody looks, without weak maps; shared parts
built once; the script of Redis looks at a record no further than its expiry. Tried: in PostgreSQL and SQLite, one statement that orders sessions of the same minute,
instead of a second one where a page ends within a minute: of 5,000 sessions of one minute, the first 1,000 took a fifth less, and the first 20 a quarter
more in PostgreSQL and twice as long in SQLite; and a second statement for those of the minute that were not read yet alone: of 1,500 sessions of one minute,
the first 1,000 took as long in MariaDB and PostgreSQL, and a quarter longer in SQLite. Not done: rows as arrays in SQLite, with which
the driver alone took 0.3 ms less for 1,000 of them, but there would be two forms of rows.
Session objects are not made when somebody looks, since callers spread and compare them.`,
  },
  {
    rows: ['memory, create'],
    target: { rate: 200_000 },
    text: `A create takes 7 to 9 µs of CPU: a third is garbage, since a session is a record of 25 values, a log, a state and a session object, an eighth the check of the
request. The minimum is one entry in a Map.`,
  },
  {
    rows: ['mariadb, create', 'postgres, create'],
    target: { ratio: 0.7 },
    text: `A session is in several indexes, and it returns the state of user and app. Creating it writes to a table with seven indexes, the key included;
the minimum writes to one with two. Done: one message instead of three, no query before the insert.`,
  },
  {
    rows: ['sqlite, create', 'redis, create'],
    target: { ratio: 0.6 },
    text: `In SQLite, two thirds of the time and more are the commit, with eight indexes where the minimum has two. In Redis, the script
makes 10 calls where the minimum makes 3: four indexes, the state of user and app, and what an earlier session left. Done: no check of the type of each key before it writes (17 calls).`,
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
  return TARGETS.flatMap(({ rows: names, target }) => {
    const missed = rows.filter((row) => names.includes(row.what) && !reaches(row, target));
    return missed.length === 0 ? [] : [{ missed, target }];
  });
}

function reaches({ ours, ratio }, { ratio: least, rate }) {
  if (rate !== undefined) return ours >= rate;
  return ratio >= least;
}
