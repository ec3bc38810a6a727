import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileText } from '../json-files/safe-files.js';
import { AgentScopeImport, type AgentScopeImportOptions, type AgentScopeReport } from './agentscope-import.js';

/** Where AgentScope keeps its files. */
export interface AgentScopeFilesOptions extends AgentScopeImportOptions {
  /** As `~/.agentscope/sessions` or `~/.agentscope/state`. */
  readonly root: string;
}

/**
 * Imports the files of AgentScope, in each of its layouts, also mixed: `{session}.json` with all components,
 * `{session}/{key}.json` and `{key}.jsonl`, or the same below `{user}/`. The id of a session of a user is `{user}/{session}`.
 * Links are not followed. One file at a time is in memory.
 *
 * @example const { sessions, kept } = await importAgentScopeFiles({ root: join(homedir(), '.agentscope/sessions'), into: components });
 */
export async function importAgentScopeFiles({ root, ...options }: AgentScopeFilesOptions): Promise<AgentScopeReport> {
  const target = new AgentScopeImport(options);
  for await (const entry of await opendir(root)) {
    const path = join(root, entry.name);
    if (entry.isFile() && entry.name.endsWith('.json'))
      await target.saveSession(removeJsonExtension(entry.name), (await readFileText(path)) ?? '{}');
    if (entry.isDirectory()) await importFolder(target, path, entry.name);
  }
  return target.report;
}

/** The folder of a session, or of a user with folders of sessions. */
async function importFolder(target: AgentScopeImport, folder: string, id: string): Promise<void> {
  let isSession = false;
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await importFolder(target, path, `${id}/${entry.name}`);
    if (!entry.isFile() || !/\.jsonl?$/.test(entry.name)) continue;
    isSession = true;
    const text = (await readFileText(path)) ?? '';
    if (entry.name.endsWith('.json')) await target.saveValue(id, removeJsonExtension(entry.name), text);
    else await target.saveList(id, removeJsonExtension(entry.name), splitJavaLines(text));
  }
  if (isSession) target.endSession();
}

function removeJsonExtension(file: string): string {
  return file.replace(/\.jsonl?$/, '');
}

/** As Java splits them; U+2028 is no end of a line. */
function splitJavaLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
}
