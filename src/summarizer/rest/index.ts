export { SummarizerRestModule, type SummarizerRestOptions } from './summarizer-rest.module.js';
