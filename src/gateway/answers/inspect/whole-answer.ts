import { isNestedDeeply, jsonOrUndefined } from '../../../lib/json/json.ts'
import { ByteList } from '../../../lib/collections/byte-list.ts'
import { toApiError } from '../../../lib/errors.ts'
import { editJson } from '../../../lib/json/json-edit.ts'
import type { EgressHandler } from '../../egress/egress.ts'
import { decompress } from '../../wire/encoding.ts'
import { headerValue } from '../../wire/header-list.ts'
import { type InspectedAnswer, type Inspection, isDedicated, runAfter, statusOf } from './inspection.ts'
import { unreadable } from '../../checks/plain-bodies.ts'
import { lastText } from '../../checks/plain-bodies.ts'
import { type AnswerHead, type AnswerKind, headersFor } from './answer-head.ts'
import type { BodyEdit } from '../../checks/check.ts'
import { denial } from '../../checks/denial.ts'
import type { HookResults } from '../../checks/hook-results.ts'
import { answerTexts } from '../../dialects/answer-texts.ts'
import { editsOfFrames, objectsOfLines, spanning, spanningTexts } from '../../dialects/spanning-texts.ts'
import type { CheckedBody, Outcome } from '../../checks/run.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { isVast, vast } from '../../dialects/texts/walk.ts'

/** An answer as checks see it, and as it can be sent. */
interface Answer extends CheckedBody {
  /** Null when it cannot be read. */
  readonly text: string | null
  readonly isJson: boolean
}

type Kind = 'json' | 'text' | 'opaque'

/** Holds an answer until it is whole, lets the guardrails look at it, and passes it on or not. */
export function wholeAnswer(inspection: Inspection, head: AnswerHead, kind: Kind): InspectedAnswer {
  const { relay, maxHeldBytes } = inspection
  const held = new ByteList()
  let { hooks } = inspection
  let state: 'holding' | 'passing' | 'judging' = 'holding'
  let ended: readonly string[] | null = null
  relay.onHeaders(head.status, head.rawHeaders, head.statusMessage)

  const judge = async (answer: Answer, release: (outcome: Outcome<Answer>) => void): Promise<void> => {
    state = 'judging'
    try {
      const outcome = await runAfter(inspection, answer, {
        status: head.status,
        apply: (before, edits) => edited(before, edits, inspection),
        refuses: (edit) => refusesEdit(answer, edit),
      })
      hooks = { ...hooks, after_request_hooks: outcome.results }
      if (!relay.open) return
      if (outcome.deniedBy === null) release(outcome)
      else relay.deny(denial(outcome.deniedBy, hooks), answer.text === null ? held.join() : Buffer.from(answer.text))
    } catch (error) {
      relay.cut(toApiError(error))
    }
  }
  const passOn = ({ failed }: Outcome<Answer>) => {
    state = 'passing'
    relay.replaceHead(statusOf(inspection, head, !failed), head.rawHeaders, head.statusMessage)
    relay.onData(held.join())
    held.clear()
    if (ended === null) inspection.relay.resumeProvider()
    else relay.onEnd(ended)
  }
  return {
    get hooks() {
      return hooks
    },
    onHeaders() {},
    onData(chunk) {
      if (state === 'passing') return relay.onData(chunk)
      held.push(chunk)
      if (state === 'judging' || held.size <= maxHeldBytes) return
      inspection.relay.pauseProvider()
      void judge(closed(`The answer is larger than ${maxHeldBytes} bytes.`), passOn)
    },
    onEnd(rawTrailers) {
      if (state === 'passing') return relay.onEnd(rawTrailers)
      ended = rawTrailers
      if (state === 'judging') return
      const bytes = held.join()
      void judge(readAnswer(bytes, head, { kind, inspection }), (outcome) =>
        finish({ inspection, hooks, head, bytes, rawTrailers }, outcome),
      )
    },
    onError: (error) => relay.onError(error),
  }
}

/** Passes an answer on as it comes; when it is whole, `async` guardrails get to see it. */
export function copiedAnswer(inspection: Inspection, head: AnswerHead, kind: AnswerKind): EgressHandler {
  const { relay, maxHeldBytes } = inspection
  const held = new ByteList()
  relay.onHeaders(head.status, head.rawHeaders, head.statusMessage)
  return {
    onHeaders() {},
    onData(chunk) {
      if (held.size <= maxHeldBytes) held.push(chunk)
      relay.onData(chunk)
    },
    onEnd(rawTrailers) {
      relay.onEnd(rawTrailers)
      if (kind === 'none' || kind === 'media') return
      const answer =
        held.size > maxHeldBytes
          ? closed(`The answer is larger than ${maxHeldBytes} bytes.`)
          : readAnswer(held.join(), head, { kind: kind === 'stream' ? 'opaque' : kind, inspection })
      void runAfter(inspection, answer, { status: head.status, apply: (before) => before })
    },
    onError: (error) => relay.onError(error),
  }
}

interface HeldAnswer {
  readonly inspection: Inspection
  readonly hooks: HookResults
  readonly head: AnswerHead
  readonly bytes: Buffer
  readonly rawTrailers: readonly string[]
}

/** Passes the whole answer on: the provider's bytes, unless something in them was changed or added. */
function finish({ inspection, hooks, head, bytes, rawTrailers }: HeldAnswer, outcome: Outcome<Answer>): void {
  const { relay } = inspection
  const text = toldText(outcome, hooks, inspection)
  const body = text === null ? null : Buffer.from(text)
  const headers = body === null ? head.rawHeaders : headersFor(head.rawHeaders, body.length)
  relay.replaceHead(statusOf(inspection, head, !outcome.failed), headers, head.statusMessage)
  if (bytes.length > 0) relay.onData(body ?? bytes)
  relay.onEnd(body === null ? rawTrailers : [])
}

/** Returns why a change cannot be made to an answer; null when it can. */
const refusesEdit = ({ json }: Answer, { path: [first], value }: BodyEdit): string | null =>
  first !== spanning || (Array.isArray(json) && typeof value === 'string') ? null : 'Texts that span lines of JSON cannot be changed.'

/** An answer that cannot be read. */
const closed = (reason: string): Answer => ({ ...unreadable(reason), text: null, isJson: false })

interface AnswerContext {
  readonly kind: Kind
  readonly inspection: Inspection
}

function readAnswer(bytes: Buffer, { rawHeaders }: AnswerHead, { kind, inspection }: AnswerContext): Answer {
  if (bytes.length === 0) return { text: null, isJson: false, json: undefined, parts: [] }
  if (kind === 'opaque') return closed('The answer is of a kind that cannot be read.')
  const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase()
  const plain = encoding === undefined || encoding === 'identity' ? bytes : decompress(bytes, encoding)
  if (plain.length === 0) return closed('The answer is compressed in a way that cannot be read.')
  return toAnswer(plain.toString('utf8'), kind === 'json', inspection)
}

function toAnswer(text: string, isJson: boolean, { aimed }: Inspection): Answer {
  const { operation, exchange } = aimed.call
  const dialect = operation.spec?.dialect ?? null
  const json = isJson ? jsonOrUndefined(text) : undefined
  // A client may read JSON that is too deep for the guardrails.
  if (json === undefined && isJson && isNestedDeeply(text)) return { ...unreadable(vast), text, isJson: false, json }
  if (json === undefined) {
    const said = spanningTexts(objectsOfLines(text) ?? [], dialect, 1)
    return { text, isJson: false, json: undefined, parts: [{ path: [], role: 'assistant', text }, ...said] }
  }
  if (isVast(json)) return { ...unreadable(vast), text, isJson: true, json }
  const parts = answerTexts(json, { dialect, method: exchange.method })
  return { text, isJson: true, json, parts: Array.isArray(json) ? [...parts, ...spanningTexts(json, dialect, 2)] : parts }
}

function edited(answer: Answer, edits: readonly BodyEdit[], inspection: Inspection): Answer {
  const { text, json, isJson } = answer
  if (text === null) return answer
  if (!isJson) return toAnswer(lastText(edits), false, inspection)
  const dialect = inspection.aimed.call.operation.spec?.dialect ?? null
  return toAnswer(editJson(text, Array.isArray(json) ? editsOfFrames(json, dialect, edits) : edits), true, inspection)
}

/** The text that goes on in place of the provider's: with its changes and, on an endpoint of ours, the results of the guardrails. */
function toldText({ body, changed }: Outcome<Answer>, hooks: HookResults, { aimed }: Inspection): string | null {
  if (body.text === null) return null
  const { before_request_hooks: before, after_request_hooks: after } = hooks
  if (body.isJson && isFields(body.json) && isDedicated(aimed.call) && before.length + after.length > 0)
    return editJson(body.text, [{ path: ['hook_results'], value: hooks }])
  return changed ? body.text : null
}
