import { type Corpus, openCorpus } from '@plangate/research/corpus';
import { type Logger, PROJECT_FOLDER, type Settings } from '@plangate/service';

/** Reads and indexes the folders of local documents; what could not be read is logged, nothing stops for it. */
export function openDocuments(settings: Settings, log: Logger): Promise<Corpus> {
  return openCorpus({
    root: PROJECT_FOLDER,
    folders: settings.documents.folders,
    log: ({ type, ...event }) => {
      if (type === 'empty') log.warn(event, 'a folder of documents is empty or missing');
      else if (type === 'loaded') log.info(event, 'documents loaded');
      else log.debug({ type, ...event }, 'documents');
    },
  });
}
