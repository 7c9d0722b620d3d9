import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeClient, KubeObject, Resource } from '@kube-ovn/kube'
import type { AccountRequest } from './audit-log.ts'
import type { ChartObject } from './chart.ts'
import { FixtureError } from './errors.ts'
import { PATIENCE_MS } from './patience.ts'
import { describeRight, rightsOf, unusedRights, type Right } from './rights.ts'

/** Names the file to which the rights that were needed are added, so that a run of many processes can be summed up. */
export const USED_RIGHTS_FILE = 'KUBE_OVN_TEST_USED_RIGHTS'

/** Longer than any run of tests. */
const TOKEN_SECONDS = 24 * 3600

function resource<T extends KubeObject>(
  kind: string,
  plural: string,
  group: string,
  namespaced: boolean,
): Resource<T> {
  return { group, version: 'v1', kind, plural, namespaced }
}

const RBAC = 'rbac.authorization.k8s.io'
const ADMISSION = 'admissionregistration.k8s.io'

/** What an account is made of, and what holds it to less than its rights. */
const kinds: readonly Resource[] = [
  resource('ServiceAccount', 'serviceaccounts', '', true),
  resource('ClusterRole', 'clusterroles', RBAC, false),
  resource('Role', 'roles', RBAC, true),
  resource('ClusterRoleBinding', 'clusterrolebindings', RBAC, false),
  resource('RoleBinding', 'rolebindings', RBAC, true),
  resource('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', ADMISSION, false),
  resource('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', ADMISSION, false),
]

interface TokenRequest extends KubeObject {
  readonly spec: { readonly expirationSeconds: number; readonly boundObjectRef?: object }
  readonly status?: { readonly token?: string }
}

const tokenRequests = resource<TokenRequest>('TokenRequest', 'serviceaccounts', '', true)

interface AccessReview extends KubeObject {
  readonly spec: { readonly user: string; readonly resourceAttributes: object }
  readonly status?: { readonly allowed?: boolean }
}

const accessReviews = resource<AccessReview>(
  'SubjectAccessReview',
  'subjectaccessreviews',
  'authorization.k8s.io',
  false,
)

/** The ServiceAccounts that were installed, what they may do, and what they did. */
export class Accounts {
  readonly #client: KubeClient
  #rights: readonly Right[] = []
  #unused: readonly Right[] = []
  #refused = new Set<string>()

  /** `client` is an administrator's. */
  constructor(client: KubeClient) {
    this.#client = client
  }

  /**
   * Creates the accounts, roles, bindings and policies among the objects, and waits until the API server goes by the rights; by a policy it
   * goes a little later.
   */
  async install(objects: readonly ChartObject[]): Promise<void> {
    await Promise.all(
      kinds.map(async (kind) => {
        const wanted = objects.filter((object) => object.kind === kind.kind)
        await Promise.all(wanted.map((object) => this.#client.create(kind, object)))
      }),
    )
    this.#rights = rightsOf(objects)
    this.#unused = this.#rights
    // What is new is seen whole, so one right of a binding stands for all.
    const probed = new Map(this.#rights.map((right) => [`${right.account} ${right.binding}`, right]))
    await Promise.all([...probed.values()].map((right) => this.#until(right, true)))
  }

  /** Waits until the API server goes by all rights: its authorizer sees roles and bindings a little later. */
  async untilEffective(): Promise<void> {
    await Promise.all(this.#rights.map((right) => this.#until(right, true)))
  }

  /** Waits until the API server goes by the lack of a right. */
  async untilMissing(account: string, verb: string, resource: string): Promise<void> {
    const lost = this.#rights.filter(
      (right) => right.account === account && right.verb === verb && right.resource === resource,
    )
    await Promise.all(lost.map((right) => this.#until(right, false)))
  }

  /** Makes a token of `NAMESPACE/NAME`; with a pod of that namespace and account, the one that this pod would have. */
  async token(account: string, pod?: string): Promise<string> {
    const [namespace = '', name = ''] = account.split('/')
    const bound = pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod } }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { namespace, name },
      spec: { expirationSeconds: TOKEN_SECONDS, ...bound },
    }
    const { status } = await this.#client.create(tokenRequests, request, { subresource: 'token' })
    return status?.token ?? ''
  }

  /** Takes note of what an account asked for. */
  take(request: AccountRequest): void {
    if (request.isRefused) {
      this.#refused.add(describeRight({ ...request, namespace: undefined, names: [] }))
      return
    }
    const unused = unusedRights(this.#unused, [request])
    if (unused.length === this.#unused.length) return
    const file = process.env[USED_RIGHTS_FILE]
    if (file !== undefined) {
      const used = this.#unused.filter((right) => !unused.includes(right))
      appendFileSync(file, used.map((right) => `${describeRight(right)}\n`).join(''))
    }
    this.#unused = unused
  }

  /** The rights that were missing since the last {@link forget}, e.g. `kube-system/ovn may list pods`. */
  get missing(): readonly string[] {
    return [...this.#refused].sort()
  }

  /** The rights that nobody needed since they were installed. */
  get unused(): readonly string[] {
    return this.#unused.map(describeRight)
  }

  /** Forgets what was refused. */
  forget(): void {
    this.#refused.clear()
  }

  async #until(right: Right, isAllowed: boolean): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS
    while ((await this.#isAllowed(right)) !== isAllowed) {
      if (performance.now() > deadlineMs) {
        throw new FixtureError('A change of rights did not take effect', {
          what: describeRight(right),
          output: '',
          cure: 'read apiserver.log',
        })
      }
      await delay(10)
    }
  }

  async #isAllowed({ account, verb, group, resource, namespace, names }: Right): Promise<boolean> {
    const [plural, subresource] = resource.split('/')
    const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name: names[0] }
    const user = `system:serviceaccount:${account.replace('/', ':')}`
    const review = { metadata: { name: '' }, spec: { user, resourceAttributes } }
    const { status } = await this.#client.create(accessReviews, review)
    return status?.allowed === true
  }
}
