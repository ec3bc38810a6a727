// npm run example <name>
import { readdirSync } from 'node:fs';

const names = readdirSync(new URL('dist', import.meta.url));
const [name] = process.argv.slice(2);
if (name !== undefined && names.includes(name)) {
  await import(new URL(`dist/${name}/main.js`, import.meta.url).href);
} else {
  console.error(`Usage: npm run example <name>, where <name> is one of: ${names.join(', ')}`);
  process.exitCode = 1;
}
