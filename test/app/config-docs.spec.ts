import { join } from 'node:path';
import { APP_VARIABLES } from '../../src/config/app.config.js';
import { SESSION_VARIABLES } from '../../src/config/sessions-environment.js';
import type { Variable } from '../../src/config/setting.js';
import { SUMMARIZER_VARIABLES } from '../../src/config/summarizer-settings.js';

interface Variables {
  readonly library: readonly Variable[];
  readonly app: readonly Variable[];
}

/** The script that writes the files. It has no types. */
interface Script {
  configFiles(
    variables: Variables,
  ): readonly { readonly file: URL; readonly text: string; readonly expected: string }[];
}

const script = join(__dirname, '../../docs/config-tables.mjs');

describe('docs/configuration.md and .env.example', () => {
  it('match the variables of the source (npm run docs:config updates them)', async () => {
    const { configFiles } = (await import(script)) as Script;
    const variables = { library: [...SESSION_VARIABLES, ...SUMMARIZER_VARIABLES], app: APP_VARIABLES };
    const files = configFiles(variables);
    expect(files).toHaveLength(2);
    for (const { text, expected } of files) expect(text).toBe(expected);
  });
});
