// Writes the table of variables in docs/configuration.md, and .env.example, from the settings: `npm run docs:config`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const docs = new URL('configuration.md', import.meta.url);
const example = new URL('../.env.example', import.meta.url);

/** The marks around the table. */
const BEGIN = '<!-- variables: written by `npm run docs:config` -->';
const END = '<!-- end of variables -->';

/** Warnings for readers who copy a variable to another app. */
const WARNINGS = new Map([
  ['SESSIONS_ACCESS', 'only for the app of `npm start`: leave it out in an app of your own, which would not start'],
]);

const meaningOf = ({ name, meaning }) => [meaning, WARNINGS.get(name)].filter(Boolean).join('; ');

const cell = (text) => text.replaceAll('|', '\\|');

const defaultOf = (variable) => variable.otherwise ?? variable.default?.toString();

/** What a reader has to know of a value. `.env.example` has the rest, and so has the error of a wrong value. */
const FORMS_SHOWN = /^(one of|\w+:\/\/)/;

/** What another page says of variables with their options. The table names them only. */
const ELSEWHERE = [
  [/_TLS/, 'see [TLS](stores.md#tls)'],
  [/^REDIS_/, 'parts of the address, instead of `SESSIONS_REDIS_URL`'],
  [/^MYSQL_/, 'parts of the address, instead of `SESSIONS_DATABASE_URL`'],
  [/^SESSIONS_DATABASE_(POOLER|LISTEN_URL)/, 'see [poolers](providers/postgresql.md#poolers)'],
  [/^SESSIONS_HISTORY_/, 'see [history](#history-what-a-reader-sees)'],
  [/^SESSIONS_TTL_/, 'see [ttl](#ttl-when-things-expire)'],
  [/^SESSIONS_LIMITS_/, 'see [limits](#limits-what-is-accepted)'],
  [/^SESSIONS_DATABASE_READ_/, 'see [read replicas](scaling.md#read-replicas)'],
  [/^SESSIONS_VERTEX_/, 'see [Vertex AI](providers/vertex.md#options)'],
  [/^SESSIONS_QUOTAS_/, 'see [quotas](tasks/quotas.md)'],
  [/^SESSIONS_ENCRYPTION_/, 'see [encryption](tasks/encrypt.md)'],
  [/^SUMMARIZER_MODEL/, 'see [a model at an address](summary-models.md#a-model-at-an-address)'],
  [/^SUMMARIZER_(?!MODEL)/, 'see [summaries](summaries.md)'],
];

const isElsewhere = ({ name }) => ELSEWHERE.some(([pattern]) => pattern.test(name));

function rowsOfOtherPages(variables) {
  return ELSEWHERE.flatMap(([pattern, said]) => {
    const names = variables.map(({ name }) => name).filter((name) => pattern.test(name));
    return names.length > 0 ? [`| ${names.map((name) => `\`${name}\``).join(', ')} | ${said} | |`] : [];
  });
}

/** A table of variables, for the docs. */
function tableOf(variables) {
  const rows = variables
    .filter((variable) => !isElsewhere(variable))
    .map((variable) => {
      const { name, kind } = variable;
      const form = FORMS_SHOWN.test(kind.allowed) ? [kind.allowed] : [];
      const cells = [[meaningOf(variable), ...form].join(': '), defaultOf(variable) ?? '–'].map(cell);
      return ['', `\`${name}\``, ...cells, ''].join(' | ').trim();
    });
  return ['| variable | meaning | without it |', '|---|---|---|', ...rows, ...rowsOfOtherPages(variables)].join('\n');
}

/** Replaces the table in the docs. */
function withTable(text, variables) {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/configuration.md has lost its markers, ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${tableOf(variables)}\n\n${END}${after}`;
}

/** A file to copy to `.env`: every variable, commented out. */
function envExample(variables) {
  const entries = variables.flatMap((variable) => {
    const { name, kind } = variable;
    const value = defaultOf(variable) ?? '';
    return [
      `# ${meaningOf(variable).replaceAll('`', '')}: ${kind.allowed}`,
      `# ${name}=${/^[\w.:/-]*$/.test(value) ? value : ''}`,
      '',
    ];
  });
  return ['# Copy to .env and take away the # of what you set. docs/configuration.md explains.', '', ...entries]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

/** The files as they are, and as they should be for these variables. */
export function configFiles({ library, app }) {
  const text = readFileSync(docs, 'utf8');
  return [
    { file: docs, text, expected: withTable(text, library) },
    { file: example, text: readOrNothing(example), expected: envExample([...library, ...app]) },
  ];
}

function readOrNothing(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function builtVariables() {
  const { APP_VARIABLES } = await import('../dist/config/app.config.js');
  const { SESSION_VARIABLES } = await import('../dist/config/sessions-environment.js');
  const { SUMMARIZER_VARIABLES } = await import('../dist/config/summarizer-settings.js');
  return { library: [...SESSION_VARIABLES, ...SUMMARIZER_VARIABLES], app: APP_VARIABLES };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const write = (variables) => {
    for (const { file, expected } of configFiles(variables)) writeFileSync(file, expected);
  };
  void builtVariables().then(write);
}
