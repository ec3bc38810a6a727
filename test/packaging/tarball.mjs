import assert from 'node:assert/strict';

/** Room to grow, yet a folder of data or a second build would not go unnoticed. */
const MOST_BYTES = 1_800_000;

const allowed =
  /^(dist\/.+\.(js|d\.ts)|dist\/inspector\/page\/(names\.json|[a-z-]+-[\dA-Z]{8}\.(js|css))|docs\/.+\.md|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
const ofApp = /^dist\/((main|app\.module|config\/app\.config|config\/app-variables)\.|app\/)|\.(spec|test)\./;

/** Whether the tarball has what its manifest promises, and nothing else. */
export function checkTarball({ files, size }, manifest) {
  const paths = files.map(({ path }) => path);
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  const typesOfOld = Object.values(manifest.typesVersions['*']).flat();
  for (const target of [...targets, ...typesOfOld, manifest.main, manifest.types]) {
    assert.ok(paths.includes(target.replace('./', '')), `${target} is missing`);
  }
  assert.deepEqual(
    Object.keys(manifest.typesVersions['*']),
    Object.keys(manifest.exports).flatMap((entry) => /^\.\/(?<name>[\w/-]+)$/.exec(entry)?.groups.name ?? []),
  );
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || ofApp.test(path)),
    [],
  );
  assert.ok(size <= MOST_BYTES, `${size} bytes`);
}
