// An agent that is an object: its fields are saved in JSON files, and loaded again after a restart.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ComponentSession,
  JsonFileComponentStore,
  Saved,
  SavedList,
  StateModuleOf,
} from 'nestjs-agent-sessions/components';

class SupportAgent extends StateModuleOf('support') {
  @Saved() mood = 'calm';
  @SavedList() messages: { role: string; text: string }[] = [];
}

const root = await mkdtemp(join(tmpdir(), 'agent-sessions-example-'));
const open = () => new ComponentSession({ store: new JsonFileComponentStore({ root }) });

const agent = new SupportAgent();
agent.messages.push({ role: 'user', text: 'Where is my order?' });
await agent.saveTo(open(), 'chat-1');
console.log('files   ', (await readdir(join(root, 'chat-1'))).filter((name) => !name.startsWith('.')).join(', '));

// Two instances go on from the same state. Only what is new at the end of the list is written.
const [one, two] = [new SupportAgent(), new SupportAgent()];
for (const each of [one, two]) await each.loadFrom(open(), 'chat-1');
one.messages.push({ role: 'model', text: 'It left our warehouse this morning.' });
two.messages.push({ role: 'user', text: 'Order 7, please.' });
await one.saveTo(open(), 'chat-1', { onConflict: 'append-merge' });
await two.saveTo(open(), 'chat-1', { onConflict: 'append-merge' });

const restarted = new SupportAgent();
console.log('loaded  ', await restarted.loadIfExists(open(), 'chat-1'), restarted.mood);
for (const { role, text } of restarted.messages) console.log(`${role.padEnd(8)} ${text}`);
console.log('other   ', await new SupportAgent().loadIfExists(open(), 'chat-2'));

await rm(root, { recursive: true });
