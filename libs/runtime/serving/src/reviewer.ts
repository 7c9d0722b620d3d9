import { createHash } from 'node:crypto'
import type { KubeClient, KubeObject, Resource } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { Review } from '@kube-ovn/process'
import type { Clock } from '@kube-ovn/time'

/** Who a token belongs to, as the API server says. */
interface User {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string }
  readonly status?: { readonly authenticated?: boolean; readonly user?: User }
}

interface SubjectAccessReview extends KubeObject {
  readonly spec: object
  readonly status?: { readonly allowed?: boolean }
}

const tokenReviews: Resource<TokenReview> = {
  ...{ group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview' },
  ...{ plural: 'tokenreviews', namespaced: false },
}
const accessReviews: Resource<SubjectAccessReview> = {
  ...{ group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview' },
  ...{ plural: 'subjectaccessreviews', namespaced: false },
}

/** How long an answer is good for. */
const goodForMs = 10_000
const timeoutMs = 10_000
/** Strangers who try tokens must not be the API server's burden. */
const mostAtOnce = 8
const mostKept = 256

const stranger: Review = {
  isAllowed: false,
  status: 401,
  reason: 'show a token of the cluster: Authorization: Bearer TOKEN',
}
const busy: Review = {
  isAllowed: false,
  status: 503,
  reason: 'too many tokens are being reviewed: try again',
}
const unknown: Review = { isAllowed: false, status: 503, reason: 'the API server does not answer' }

interface Kept {
  readonly review: Promise<Review>
  readonly untilMs: number
}

export interface ReviewerOptions {
  readonly client: Pick<KubeClient, 'create'>
  readonly clock: Clock
  readonly log: Logger
}

/** Asks the API server whose a token is, and what he may read. */
export class Reviewer {
  readonly #options: ReviewerOptions
  readonly #kept = new Map<string, Kept>()
  #underWay = 0
  #isAnswering = true

  constructor(options: ReviewerOptions) {
    this.#options = options
  }

  /** Says whether who sends this Authorization header may read `path`. It never rejects. */
  review(authorization: string | undefined, path: string): Promise<Review> {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) return Promise.resolve(stranger)
    // What is kept may end up in a dump of memory: it is no token.
    const key = createHash('sha256').update(`${path} ${token}`).digest('base64')
    const nowMs = this.#options.clock.monotonic()
    const kept = this.#kept.get(key)
    if (kept !== undefined && kept.untilMs > nowMs) return kept.review
    if (this.#underWay >= mostAtOnce) return Promise.resolve(busy)
    const review = this.#ask(token, path)
    this.#kept.delete(key)
    this.#kept.set(key, { review, untilMs: nowMs + goodForMs })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest)
    return review
  }

  async #ask(token: string, path: string): Promise<Review> {
    this.#underWay++
    try {
      const { client } = this.#options
      const options = { signal: AbortSignal.timeout(timeoutMs) }
      const metadata = { name: '' }
      const { status } = await client.create(tokenReviews, { metadata, spec: { token } }, options)
      if (status?.authenticated !== true || status.user === undefined) return this.#answered(stranger)
      const { username: user = '', uid, groups, extra } = status.user
      const spec = { user, uid, groups, extra, nonResourceAttributes: { path, verb: 'get' } }
      const access = await client.create(accessReviews, { metadata, spec }, options)
      if (access.status?.allowed === true) return this.#answered({ isAllowed: true })
      const reason = `${user} may not get ${path}: give him ClusterRole kube-ovn-metrics-reader`
      return this.#answered({ isAllowed: false, status: 403, reason })
    } catch (err) {
      if (this.#isAnswering) this.#options.log.warn('a token could not be reviewed', { path, err })
      this.#isAnswering = false
      return unknown
    } finally {
      this.#underWay--
    }
  }

  #answered(review: Review): Review {
    if (!this.#isAnswering) this.#options.log.info('tokens are reviewed again')
    this.#isAnswering = true
    return review
  }
}
