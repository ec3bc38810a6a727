import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = join(__dirname, '../../docs/images');

/** Takes a picture for the docs, if `WRITE_IMAGES` is set: `npm run docs:images`. */
export async function savedImage(page: Page, name: string): Promise<void> {
  if (!process.env.WRITE_IMAGES) return;
  await page.setViewportSize({ width: 1_400, height: 860 });
  // The list is drawn anew.
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}
