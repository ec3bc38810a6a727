import type { PageConfig } from '../../src/inspector/page-config.js';

export async function readConfig(): Promise<PageConfig> {
  const response = await fetch('config.json', { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`config.json answered ${response.status}`);
  return (await response.json()) as PageConfig;
}
