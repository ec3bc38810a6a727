import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { occurrences } from '../sql-integrity.js';
import { newStoreFolder } from '../store-folder.js';
import type { SharedStore } from './shared-stores.js';

/** A store in its own SQLite file. */
export async function sharedSqlite(): Promise<SharedStore> {
  const folder = newStoreFolder();
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

/**
 * The second check finds events and state without a session, the third logs with gaps, the last one differences between
 * metadata and its index.
 */
const CHECKS = [
  'PRAGMA integrity_check',
  'PRAGMA foreign_key_check',
  `SELECT s.session_id, s.last_seq, COUNT(e.seq) AS events, MAX(e.seq) AS last
     FROM agent_sessions s LEFT JOIN agent_session_events e ON e.session_pk = s.pk
     GROUP BY s.pk HAVING events <> s.last_seq OR COALESCE(last, 0) <> s.last_seq`,
  `SELECT s.session_id, s.metadata, COUNT(i.entry) AS entries
     FROM agent_sessions s LEFT JOIN agent_session_index i ON i.session_pk = s.pk AND instr(s.metadata, i.entry) > 0
     GROUP BY s.pk HAVING entries <> ${['status', 'tag:', 'label:'].map(occurrences).join(' + ')}
       OR entries <> (SELECT COUNT(*) FROM agent_session_index a WHERE a.session_pk = s.pk)`,
];
