// Writes the tables of variables in docs/configuration.md, and .env.example, from the settings: `npm run docs:config`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const docs = new URL('configuration.md', import.meta.url);
const example = new URL('../.env.example', import.meta.url);

/** The tables, and the marks around each of them. */
const tablesOf = ({ library, app }) => [
  {
    variables: library,
    begin: '<!-- variables: written by `npm run docs:config` -->',
    end: '<!-- end of variables -->',
  },
  {
    variables: app,
    begin: '<!-- variables of the app: written by `npm run docs:config` -->',
    end: '<!-- end of variables of the app -->',
  },
];

/** Warnings for readers who copy a variable to another app. */
const WARNINGS = new Map([
  ['SESSIONS_ACCESS', 'only for the app of `npm start`: leave it out in an app of your own, which would not start'],
]);

const meaningOf = ({ name, meaning }) => [meaning, WARNINGS.get(name)].filter(Boolean).join('; ');

const cell = (text) => text.replaceAll('|', '\\|');

const defaultOf = (variable) => variable.otherwise ?? variable.default?.toString();

/** What a meaning and a default do not show already. `.env.example` has all of it, and so has the error of a wrong value. */
const FORMS_SHOWN = /^(a whole number|a number of seconds|a host name|true or false|text$)/;

const isVariable = ({ byCode = false }) => !byCode;

/** A table of variables, for the docs, and the options that have none. */
function tableOf(variables) {
  const rows = variables.filter(isVariable).map((variable) => {
    const { name, kind } = variable;
    const form = FORMS_SHOWN.test(kind.allowed) ? [] : [kind.allowed];
    const cells = [[meaningOf(variable), ...form].join(': '), defaultOf(variable) ?? '–'].map(cell);
    return ['', `\`${name}\``, ...cells, ''].join(' | ').trim();
  });
  const table = ['| variable | meaning | without it |', '|---|---|---|', ...rows];
  const options = variables.filter((variable) => !isVariable(variable)).map(({ path }) => `\`${path}\``);
  return [...table, ...(options.length > 0 ? ['', `Only code sets ${options.join(', ')}.`] : [])].join('\n');
}

/** Replaces a table in the docs. */
function withTable(text, { variables, begin, end }) {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/configuration.md has lost its markers, ${begin} and ${end}`);
  return `${before}${begin}\n\n${tableOf(variables)}\n\n${end}${after}`;
}

/** A file to copy to `.env`: every variable, commented out. */
function envExample(tables) {
  const entries = tables
    .flatMap(({ variables }) => variables.filter(isVariable))
    .flatMap((variable) => {
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
export function configFiles(variables) {
  const tables = tablesOf(variables);
  const text = readFileSync(docs, 'utf8');
  return [
    { file: docs, text, expected: tables.reduce(withTable, text) },
    { file: example, text: readOrNothing(example), expected: envExample(tables) },
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
