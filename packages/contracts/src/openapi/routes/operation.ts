import { z } from 'zod';
import { HealthBody } from '../../health.ts';
import type { Route } from '../route.ts';

/** What those need who run a service. @param service its name in a sentence */
export const operationRoutes = (service: string): readonly Route[] => [
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    tag: 'Operation',
    summary: `Whether the ${service} runs`,
    access: 'open',
    answers: { 200: { description: 'It runs.', schema: HealthBody } },
  },
  {
    method: 'get',
    path: '/readiness',
    id: 'getReadiness',
    tag: 'Operation',
    summary: `Whether the parts that the ${service} needs answer`,
    access: 'open',
    answers: {
      200: { description: 'All of them do.', schema: HealthBody },
      503: { description: '`checks` names those that do not.', schema: HealthBody, headers: ['Retry-After'] },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag: 'Operation',
    summary: 'Metrics for Prometheus',
    access: 'open',
    answers: {
      200: { description: 'Prometheus text format.', schema: z.string(), mediaType: 'text/plain' },
    },
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag: 'Operation',
    summary: 'This document',
    access: 'open',
    answers: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) },
    },
  },
];
