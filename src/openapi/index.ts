export { type DocsOptions, mountDocs } from './mount-docs.js';
