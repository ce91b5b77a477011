import { parentPort, workerData } from 'node:worker_threads';
import { finishReport, type ReportParts } from '@plangate/research';

parentPort?.postMessage(finishReport(workerData as ReportParts));
