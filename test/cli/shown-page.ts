import { until } from '../support/until.js';
import { type CliResult, cli } from './terminal.js';

/** The address of the sessions of ann that the page reads. */
export function sessionsOf(page: string): string {
  return `${page.replace(/inspector$/, '')}apps/shop/users/ann/sessions`;
}

/** Runs the command until the work is done that is given the address of the page. */
export async function whileShown(
  args: readonly string[],
  work: (page: string) => Promise<void>,
  env: NodeJS.ProcessEnv = {},
): Promise<CliResult> {
  const interrupted = new AbortController();
  let out = '';
  const ended = cli(['inspect', ...args], { env, signal: interrupted.signal, onOutput: (text) => (out = text) });
  const page = () => /open (?<page>http:\S+)/.exec(out)?.groups?.page;
  await Promise.race([ended, until(() => page() !== undefined)]);
  try {
    await work(page() ?? '');
  } finally {
    interrupted.abort();
  }
  return ended;
}
