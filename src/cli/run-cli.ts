import { CommandContext } from './command-context.js';
import { EXIT, describeFailure } from './failures.js';
import type { CliIo } from './io.js';
import { shown } from './output.js';
import { programOf } from './program.js';

/**
 * Runs a command line. Errors become one line on stderr.
 *
 * @param args without the names of Node and of the program
 * @returns the exit code
 */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.done;
  // Help and errors may be read by nobody, too.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined);
  const program = programOf(async (command, options, work) => {
    const context = new CommandContext(io, options, command);
    try {
      exitCode = (await work(context)) ?? EXIT.done;
      await context.output.written();
      await context.audit?.end(io.signal);
    } catch (error) {
      await context.audit?.end(io.signal, error);
      throw error;
    } finally {
      await context.close();
    }
  });
  const output = {
    writeOut: (text: string) => void io.stdout.write(text),
    writeErr: (text: string) => void io.stderr.write(text),
    // Told below, like all errors.
    outputError: () => undefined,
  };
  for (const command of [program, ...program.commands]) command.configureOutput(output).exitOverride();
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    const { exitCode: failed, told } = describeFailure(error, io.signal);
    if (told) {
      const isJson = args.includes('--json');
      io.stderr.write(isJson ? `${JSON.stringify({ error: told })}\n` : `error ${told.code}: ${shown(told.message)}\n`);
    }
    return failed;
  }
}
