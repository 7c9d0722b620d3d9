import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { importImages } from './cluster/images.ts'
import { ensureLabImage } from './docker/image.ts'
import { applyAll, deleteAll, parseManifests } from './kubernetes/manifests.ts'
import { waitForObjects } from './kubernetes/wait.ts'
import { untilRolledOut } from './kubernetes/workloads.ts'
import { programs } from './paths.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { ApiObject } from './kubernetes/client.ts'

/** Where MetalLB is, and what configures it. */
export const metallbNamespace = 'metallb-system'

/**
 * Installs MetalLB by its own manifest, until this is disposed of: it gives addresses to Services of type LoadBalancer, and announces them on
 * links of nodes.
 *
 * It is built for deep runs only (`KUBE_OVN_DEEP=1`). Its webhooks are left out, and a memberlist, by which speakers find one of them dead
 * before Kubernetes does, has its key from the start.
 */
export async function installMetallb(cluster: Cluster): Promise<AsyncDisposable> {
  const { api } = cluster
  const image = await ensureLabImage('metallb')
  await importImages(cluster, [{ name: image }])
  const objects = metallbObjects(readFileSync(programs.metallb.manifest, 'utf8'), image)
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    await deleteAll(api, objects)
    await waitForObjects(api, '/api/v1/namespaces', `${metallbNamespace} is gone`, (all) =>
      all.some(({ metadata }) => metadata.name === metallbNamespace) ? undefined : true,
    )
  })
  await applyAll(api, objects)
  await untilRolledOut(api, 'deployments', metallbNamespace, 'controller')
  await untilRolledOut(api, 'daemonsets', metallbNamespace, 'speaker')
  const owned = stack.move()
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

interface Workload extends ApiObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly Container[]; readonly volumes: readonly Named[] }
    }
  }
}

interface Named {
  readonly name: string
}

interface Container extends Named {
  readonly args: readonly string[]
  readonly readinessProbe: object
  readonly volumeMounts: readonly Named[]
}

/** Of webhooks: certificates, which nobody waits for then. */
const certificates = 'cert'

function metallbObjects(manifest: string, image: string): readonly ApiObject[] {
  const key: ApiObject & { readonly stringData: object } = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'memberlist', namespace: metallbNamespace },
    stringData: { secretkey: randomBytes(16).toString('base64') },
  }
  const [namespace, ...others] = parseManifests(manifest).filter(
    ({ metadata }) => !metadata.name.startsWith('metallb-webhook-'),
  )
  if (namespace === undefined) throw new TypeError('the manifest of MetalLB is empty')
  const workloads = ['Deployment', 'DaemonSet']
  return [
    namespace,
    key,
    ...others.map((object) =>
      workloads.includes(object.kind ?? '') ? withImage(object as Workload, image) : object,
    ),
  ]
}

function withImage(workload: Workload, image: string): ApiObject {
  const { template } = workload.spec
  const containers = template.spec.containers.map((container) => ({
    ...container,
    ...{ image, imagePullPolicy: 'IfNotPresent', command: [`/${container.name}`] },
    args: [...container.args, ...(container.name === 'controller' ? ['--webhook-mode=disabled'] : [])],
    readinessProbe: { ...container.readinessProbe, initialDelaySeconds: 0, periodSeconds: 1 },
    volumeMounts: container.volumeMounts.filter(({ name }) => name !== certificates),
  }))
  const volumes = template.spec.volumes.filter(({ name }) => name !== certificates)
  const spec = { ...template.spec, containers, volumes }
  return { ...workload, spec: { ...workload.spec, template: { ...template, spec } } } as ApiObject
}
