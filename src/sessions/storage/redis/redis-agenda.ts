import { assertAgendaEntry, assertAgendaPut, assertDueLimit } from '../../domain/agenda-rules.js';
import type { Agenda, AgendaEntry } from '../agenda.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import { DUE_ENTRIES, PUT_ON_AGENDA, TAKE_OFF_AGENDA } from './scripts/agenda-scripts.js';

/** An agenda in one sorted set of Redis: each call is one script, and one round trip. */
export class RedisAgenda implements Agenda {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: RedisKeys,
  ) {}

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    await this.connection.write(PUT_ON_AGENDA, { keys: [this.keys.agenda], args: [name, inMs] });
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    const found = await this.connection.read<string[]>(DUE_ENTRIES, { keys: [this.keys.agenda], args: [limit] });
    return Array.from({ length: found.length / 2 }, (_, index) => {
      const [name = '', dueAt = ''] = found.slice(2 * index, 2 * index + 2);
      return { name, dueAt: Number(dueAt) };
    });
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    const { name, dueAt } = entry;
    await this.connection.write(TAKE_OFF_AGENDA, { keys: [this.keys.agenda], args: [name, dueAt] });
  }
}
