/** The same reviews and decisions in the spellings of other clients: pure functions, both ways. */
export {
  type AgUiInterrupt,
  type AgUiResumeEntry,
  AgUiResumeError,
  fromAgUiInterrupts,
  fromAgUiResume,
  toAgUiInterrupts,
  toAgUiResume,
  waitingCallIds,
} from './ag-ui.ts';
export {
  fromAgentInbox,
  fromAgentInboxResponses,
  type HumanInterrupt,
  type HumanResponse,
  toAgentInbox,
  toAgentInboxResponses,
} from './agent-inbox.ts';
export {
  fromLangChainDecisions,
  fromLangChainRequest,
  type LangChainDecision,
  type LangChainRequest,
  toLangChainDecisions,
  toLangChainRequest,
} from './langchain.ts';
