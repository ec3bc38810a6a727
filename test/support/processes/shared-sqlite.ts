import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { SharedStore } from './shared-stores.js';

/** A SQLite file of its own. */
export async function sharedSqlite(): Promise<SharedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
  const database = join(folder, 'sessions.db');
  return {
    description: { kind: 'sqlite', database },
    // Locks and open transactions of a process end before its end is reported.
    settle: async () => undefined,
    async checkIntegrity() {
      const connection = new Libsql(database);
      try {
        const problems = CHECKS.flatMap((check) => connection.prepare(check).all());
        if (JSON.stringify(problems) !== '[{"integrity_check":"ok"}]') throw new Error(JSON.stringify(problems));
      } finally {
        connection.close();
      }
    },
    destroy: () => rm(folder, { recursive: true }),
  };
}

/** The second looks for events and state of sessions that are not there, the third for logs with gaps. */
const CHECKS = [
  'PRAGMA integrity_check',
  'PRAGMA foreign_key_check',
  `SELECT s.session_id, s.last_seq, COUNT(e.seq) AS events, MAX(e.seq) AS last
     FROM agent_sessions s LEFT JOIN agent_session_events e ON e.session_pk = s.pk
     GROUP BY s.pk HAVING events <> s.last_seq OR COALESCE(last, 0) <> s.last_seq`,
];
