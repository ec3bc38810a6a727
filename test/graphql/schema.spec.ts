import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { GraphqlApp } from './graphql-app.js';

describe('docs/schema.graphql', () => {
  it('equals the generated schema', async () => {
    const app = await GraphqlApp.start({ summarizer: {}, search: true, agents: true });
    try {
      const written = readFileSync(join(__dirname, '../../docs/schema.graphql'), 'utf8');
      expect(written.trim()).toBe(printSchema(lexicographicSortSchema(app.schema)));
    } finally {
      await app.close();
    }
  });
});
