import { Command, InvalidArgumentError, Option } from 'commander';
import { requireOfPackage } from '../config/own-package.js';
import { HIGHEST_PORT } from '../config/setting.js';
import { auditedCommand } from './audited-command.js';
import type { AuditedCommand } from './command-audit.js';
import type { CommandContext } from './command-context.js';
import { PRESET_NAMES, apiKey } from './commands/api-key.js';
import { audit } from './commands/audit.js';
import { explain } from './commands/explain.js';
import { inspect } from './commands/inspect.js';
import { list } from './commands/list.js';
import { migrate } from './commands/migrate.js';
import { eraseUser, proveErased } from './commands/erase-user.js';
import { countEncrypted, rotateKeys } from './commands/encryption.js';
import { purge } from './commands/purge.js';
import { retention } from './commands/retention.js';
import { redact } from './commands/redact.js';
import { search, searchRebuild } from './commands/search.js';
import { show } from './commands/show.js';
import { state } from './commands/state.js';
import { tail } from './commands/tail.js';
import { exportTo, importFrom } from './commands/transfer.js';
import { verify } from './commands/verify.js';

/** The work of a command: with its options and arguments. Returns the exit code; nothing means 0. */
type Work<Options> = (context: CommandContext, options: Options, ...names: string[]) => Promise<number | void>;

/** Runs a command that the command line names. */
export type RunWork = (
  command: AuditedCommand,
  options: object,
  work: (context: CommandContext) => Promise<number | void>,
) => Promise<void>;

const EXIT_CODES = `
Exit codes:
  0    done
  1    verify found an error, migrate --status a migration that has not run, import --verify a difference,
       retention has left something that is due, or cannot be read, erased found something, or export or import has left something out
  2    the command line or the configuration is wrong
  3    the store cannot be reached
  4    there is no such session
  5    refused for another reason; the code says which
  130  interrupted

Without --url, the store is that of the app: SESSIONS_PROVIDER and the other variables of the configuration.`;

/** Options of an import that do nothing where it only compares. */
const NO_PART_IN_VERIFY = ['dryRun', 'skipConflicts', 'replace', 'skipBad', 'cursor'];

/** The command line: its commands, arguments and options. */
export function programOf(run: RunWork): Command {
  const program = new Command('agent-sessions')
    .description('Look at, move, check and mend the sessions of agents.')
    .option('--env-file <path>', 'file of variables; those of the environment take precedence')
    .option('--url <url>', 'address of the store, instead of variables: sqlite:path, postgres://, mysql://, redis://')
    .option('--prefix <text>', 'prefix of all keys in Redis')
    .option('--table-prefix <text>', 'prefix of all tables')
    .option('--schema <name>', 'schema of the tables in PostgreSQL')
    .option('--json', 'results as lines of JSON')
    .version(ownVersion(), '--version', 'say which version this is')
    .addHelpText('after', EXIT_CODES);

  const action =
    <Options>(work: Work<Options>) =>
    (...given: unknown[]): Promise<void> => {
      const command = given.at(-1) as Command;
      const options: object = command.optsWithGlobals();
      return run(auditedCommand(command), options, (context) => work(context, options as Options, ...command.args));
    };

  program
    .command('list [app] [user]')
    .description('list apps, or the sessions of an app or a user, newest update first')
    .option('--limit <count>', 'at most so many sessions (100)', wholeNumber)
    .option('--all', 'all sessions')
    .action(action(list));
  program
    .command('show <app> <user> <session>')
    .description('show a session and its whole log')
    .option('--state', 'with its state')
    .option('--no-events', 'without its log')
    .action(action(show));
  program
    .command('explain <app> <user> <session>')
    .description('say of each event why it is in the view that a model gets, or not; or what a model was given')
    .option('--newest <count>', 'explain the view of so many events', wholeNumber)
    .option('--at <seq>', 'explain the view as it was when this event was the last one', wholeNumber)
    .option('--from <seq>', 'begin with this event', wholeNumber)
    .option('--to <seq>', 'end with this event', wholeNumber)
    .addOption(
      new Option('--request [seq]', 'what the model of this answer was given (last)')
        .argParser((seq) => (seq === 'last' ? seq : wholeNumber(seq)))
        .conflicts(['newest', 'at', 'from', 'to']),
    )
    .option(
      '--since <seq>',
      'compare with the view after this event; with --request, with the request of this answer',
      wholeNumber,
    )
    .option('--prompts', 'show instructions and tools, too')
    .action(action(explain));
  program
    .command('search <app> <user> <text>')
    .description('find what was said in the sessions of a user, by all of these words')
    .option('--any', 'by any of the words')
    .option('--session <id>', 'in this session')
    .option('--limit <count>', 'at most so many hits (20)', wholeNumber)
    .action(action(search));
  program
    .command('search-rebuild [app] [user]')
    .description('make the search index again: of a user, of an app, or of all')
    .action(action(searchRebuild));
  program
    .command('tail <app> <user> <session>')
    .description('follow a session')
    .option('--from <seq>', 'begin with this event instead of the next one', wholeNumber)
    .option('--partials', 'with what running agents say')
    .action(action(tail));
  program
    .command('inspect [file]')
    .description('show the sessions in a browser: those of the store, or of an export')
    .option('--port <number>', 'on this port instead of a free one', portNumber)
    .option('--write', 'let the page rewind, fork and delete')
    .option('--policy <file>', 'adds the hold of this policy to those of the store')
    .action(action(inspect));
  program
    .command('state <app> [user] [session]')
    .description(
      'list the keys of the state of an app, a user or a session by size, also if it is too large for the app',
    )
    .option('--limit <count>', 'at most so many keys, the largest (20)', wholeNumber)
    .option('--remove <key...>', 'remove these keys before')
    .action(action(state));
  filtered(program.command('export'))
    .description('write sessions as lines of JSON')
    .option('-o, --output <file>', 'to a file instead of stdout, which is -')
    .option('--components <folder>', 'with component state in JSON files')
    .action(action(exportTo));
  filtered(program.command('import <file>'))
    .description('import an export; - reads stdin. Can be repeated')
    .option('--dry-run', 'write nothing, and say what would be done')
    .addOption(
      new Option('--verify', 'write nothing, and compare the file with the store').conflicts(NO_PART_IN_VERIFY),
    )
    .option('--skip-conflicts', 'leave out sessions and components that the store has differently')
    .addOption(new Option('--replace', 'delete those of the store instead').conflicts('skipConflicts'))
    .option('--skip-bad', 'leave out what cannot be read')
    .option('--components <folder>', 'component state into JSON files, instead of the store')
    .option('--no-components', 'without component state')
    .option('--no-shared', 'without state and usage of users and apps')
    .option('--cursor <line>', 'skip what an earlier import of this file has finished', wholeNumber)
    .action(action(importFrom));
  program
    .command('redact <app> <user> <session> <seq>')
    .description('replace what an event says for good; it keeps its place and a note')
    .requiredOption('--reason <text>', 'why, for the note')
    .option('--state', 'also the values that it wrote into state, where they are still there')
    .action(action(redact));
  program
    .command('erase-user <app> <user>')
    .description('remove all that the store has of a user')
    .option('--yes <user>', 'the user id again, since it cannot be undone')
    .option('--reason <text>', 'why, for a note that is kept without the id')
    .option('--components <folder>', 'also component state in JSON files')
    .option('--policy <file>', 'adds the hold of this policy to those of the store')
    .action(action(eraseUser));
  program
    .command('erased <app> <user>')
    .description('say whether the store has anything of a user, and why the user was erased')
    .action(action(proveErased));
  program
    .command('migrate')
    .description('bring the tables of a database up to date')
    .option('--dry-run', 'say what would run')
    .option('--status', 'say what has run and what has not')
    .action(action(migrate));
  program
    .command('rotate-keys')
    .description('wrap all keys of encryption by the current one')
    .option('--renew', 'also give each user and app a new key for what comes')
    .action(action(rotateKeys));
  program
    .command('count-encrypted')
    .description('count what is encrypted, and what is older than that')
    .action(action(countEncrypted));
  program
    .command('audit [app]')
    .description('say who asked for what of an app, or without any, oldest first, if the app keeps that in its store')
    .option('--user <id>', 'only of data of this user, or asked by them')
    .option('--since <time>', 'only from this day or time on, such as 2027-01-31')
    .action(action(audit));
  program
    .command('purge')
    .description('remove what has expired')
    .option('--batch <count>', 'sessions at a time (500)', wholeNumber)
    .action(action(purge));
  program
    .command('retention <policy>')
    .description('remove the sessions that a policy does not keep: a JSON file with rules and hold')
    .option('--dry-run', 'count them, and remove nothing')
    .action(action(retention));
  filtered(program.command('verify'))
    .description('check the store: the doctor')
    .option('--repair', 'mend what can be mended; never removes an event')
    .option('--strict', 'warnings count as errors')
    .option('--page <count>', 'events or rows per request (128)', wholeNumber)
    .option('--pause <ms>', 'pause between two requests', wholeNumber)
    .action(action(verify));
  program
    .command('api-key <name>')
    .description('make an API key, and its hash for the app')
    .addOption(new Option('--preset <preset>', 'what it allows (service)').choices(PRESET_NAMES))
    .option('--user <id>', 'for whom it is; client and readonly need one')
    .option('--app <name...>', 'only for these apps')
    .option('--expires <day>', 'the last day on which it counts, such as 2027-01-31')
    .action(action(apiKey));
  return program;
}

function ownVersion(): string {
  const { version } = requireOfPackage()('nestjs-agent-sessions/package.json') as { version: string };
  return version;
}

function filtered(command: Command): Command {
  return command
    .option('--app <name>', 'only this app')
    .option('--user <id>', 'only this user')
    .option('--session <id>', 'only this session');
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > HIGHEST_PORT) throw new InvalidArgumentError(`It must be a port, at most ${HIGHEST_PORT}.`);
  return port;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
