// Writes what the table of variables says into docs/configuration.md and .env.example: `npm run docs:config`.
import { readFileSync, writeFileSync } from 'node:fs';
import { APP_VARIABLES } from '../dist/config/app-variables.js';
import { SUMMARIZER_VARIABLES } from '../dist/config/summarizer-variables.js';
import { VARIABLES as SESSION_VARIABLES } from '../dist/config/variables.js';

const docs = new URL('configuration.md', import.meta.url);
const example = new URL('../.env.example', import.meta.url);

/** The tables, and the marks between which each of them stands. */
const TABLES = [
  {
    variables: [...SESSION_VARIABLES, ...SUMMARIZER_VARIABLES],
    begin: '<!-- variables: written by `npm run docs:config` -->',
    end: '<!-- end of variables -->',
  },
  {
    variables: Object.values(APP_VARIABLES),
    begin: '<!-- variables of the app: written by `npm run docs:config` -->',
    end: '<!-- end of variables of the app -->',
  },
];

/** What those have to know who copy a variable to where it does not belong. */
const WARNINGS = new Map([
  ['SESSIONS_ACCESS', 'only for the app of `npm start`: leave it out in an app of your own, which would not start'],
]);

const meaningOf = ({ name, meaning }) => [meaning, WARNINGS.get(name)].filter(Boolean).join('; ');

const cell = (text) => text.replaceAll('|', '\\|');

/** A table of variables, for the docs. */
function tableOf(variables) {
  const rows = variables.map((variable) => {
    const { name, kind, otherwise = '–' } = variable;
    return ['', `\`${name}\``, cell(meaningOf(variable)), cell(kind.allowed), cell(otherwise), ''].join(' | ').trim();
  });
  return ['| variable | meaning | allowed | without it |', '|---|---|---|---|', ...rows].join('\n');
}

/** The text of the docs with a table in its place. */
function withTable(text, { variables, begin, end }) {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/configuration.md has lost its markers, ${begin} and ${end}`);
  return `${before}${begin}\n\n${tableOf(variables)}\n\n${end}${after}`;
}

/** A file for people to copy to `.env`: all that may stand there, switched off. */
export function envExample() {
  const entries = TABLES.flatMap(({ variables }) => variables).flatMap((variable) => {
    const { name, kind, otherwise = '' } = variable;
    return [
      `# ${meaningOf(variable).replaceAll('`', '')}: ${kind.allowed}`,
      `# ${name}=${/^[\w.:/-]*$/.test(otherwise) ? otherwise : ''}`,
      '',
    ];
  });
  return ['# Copy to .env and take away the # of what you set. docs/configuration.md explains.', '', ...entries]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

/** The files as they are, and as they should be. */
export function configFiles() {
  const text = readFileSync(docs, 'utf8');
  return [
    { file: docs, text, expected: TABLES.reduce(withTable, text) },
    { file: example, text: readOrNothing(example), expected: envExample() },
  ];
}

function readOrNothing(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

if (process.argv.includes('--check')) {
  const stale = configFiles().filter(({ text, expected }) => text !== expected);
  for (const { file } of stale) console.error(`${file.pathname} is out of date: run npm run docs:config`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const { file, expected } of configFiles()) writeFileSync(file, expected);
}
