import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The commands that install the package itself. */
const PACKAGE = /^(nestjs-agent-sessions|\S*\/nestjs-agent-sessions-\S+\.tgz)$/;

/**
 * The commands that README and docs tell the reader of an app to run: `npm install …`, in blocks of `sh` and in the text. A
 * line `# Nest 11` in a block, and "on Nest 11" before a command in the text, say that it is for this one only.
 */
export function installCommands() {
  const docs = readdirSync(join(root, 'docs'), { recursive: true }).filter((path) => path.endsWith('.md'));
  const found = ['README.md', ...docs.map((path) => join('docs', path))].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...commandsInBlocks(text), ...commandsInText(text)].map((command) => ({ page, ...command }));
  });
  if (found.length < 20) throw new Error(`README and docs have ${found.length} commands to install something only`);
  return found;
}

/** Those for one version of Nest, each once, with the packed package in the place of its name. */
export function commandsFor(nest, packed) {
  const commands = installCommands()
    .filter((command) => command.nest === undefined || command.nest === nest)
    .map(({ page, text }) => ({ page, text, args: argumentsOf(text, packed) }));
  return commands.filter(({ text }, index) => commands.findIndex((other) => other.text === text) === index);
}

function* commandsInBlocks(text) {
  for (const [, block] of text.matchAll(/^```sh\n(.*?)^```/gms)) {
    let nest;
    for (const line of block.replaceAll('\\\n', ' ').split('\n')) {
      const named = /^# Nest (\d+)$/.exec(line);
      if (named) nest = Number(named[1]);
      if (/^npm (install|i) /.test(line)) yield { nest, text: line.replace(/\s+#.*/, '') };
    }
  }
}

function* commandsInText(text) {
  const prose = text.replaceAll(/^```.*?^```/gms, '').replaceAll(/\s+/g, ' ');
  for (const [, nest, command] of prose.matchAll(/(?:on nest (\d+) )?`(npm (?:install|i) [^`]+)`/gi)) {
    yield { nest: nest && Number(nest), text: command };
  }
}

function argumentsOf(text, packed) {
  const [, , ...packages] = text.split(/\s+/);
  return packages.map((name) => (PACKAGE.test(name) ? packed : name));
}
