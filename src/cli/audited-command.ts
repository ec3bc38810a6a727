import type { Command } from 'commander';
import type { AuditedCommand } from './command-audit.js';

/** How the command line names ids, as arguments and as options. */
const IDS = { app: 'appName', user: 'userId', session: 'sessionId' } as const;

/** What the audit says of a command that was given. */
export function auditedCommand(command: Command): AuditedCommand {
  const named = command.registeredArguments.map((argument, index) => [argument.name(), command.args[index]] as const);
  const given = new Map<string, unknown>([...Object.entries(command.opts()), ...named]);
  const ids = Object.entries(IDS).map(([name, field]) => [field, given.get(name)] as const);
  return {
    operation: [command.name(), ...listGivenOptions(command)].join(' '),
    ...Object.fromEntries(ids.filter(([, id]) => typeof id === 'string')),
  };
}

/** The names of the options of its own, without what they were given. */
function listGivenOptions(command: Command): string[] {
  return command.options
    .filter((option) => !(option.attributeName() in IDS))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .filter((option) => option.negate === (command.getOptionValue(option.attributeName()) === false))
    .map(({ long, short }) => long ?? short ?? '');
}
