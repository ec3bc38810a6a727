import { randomBytes } from 'node:crypto';

export function newDatabaseName(): string {
  return `agent_sessions_test_${randomBytes(6).toString('hex')}`;
}
