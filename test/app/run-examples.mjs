// Runs compiled examples one after the other, since to load Nest takes longer than most of them. Prints what each printed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...names] = process.argv.slice(2);
const outputs = {};
const writes = { out: process.stdout.write.bind(process.stdout), err: process.stderr.write.bind(process.stderr) };

for (const name of names) {
  const output = { out: '', err: '' };
  for (const kind of ['out', 'err']) {
    process[`std${kind}`].write = (text) => {
      output[kind] += String(text);
      return true;
    };
  }
  try {
    await import(pathToFileURL(join(folder, name, 'main.js')).href);
  } catch (error) {
    output.err += `${error?.stack ?? error}`;
  }
  outputs[name] = output;
}

for (const kind of ['out', 'err']) process[`std${kind}`].write = writes[kind];
console.log(JSON.stringify(outputs));
