import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImageName } from 'testcontainers'
import { run } from './command.ts'
import { connectEngine, isNotFound } from './engine.ts'

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openvswitch-switch ovn-central openssl nftables \\
 && rm -rf /var/lib/apt/lists/*
`

const image = `kube-ovn-test/ovn:${createHash('sha256').update(dockerfile).digest('hex').slice(0, 12)}`

/** Internal: no packet of a test leaves the machine. The host reaches the containers' addresses directly. */
const network = 'kube-ovn-test'

/** Makes sure that the image with OVS and OVN exists, and answers its name. Building it takes about 20 seconds. */
export async function ensureImage(): Promise<string> {
  const engine = await connectEngine()
  if (!(await engine.image.exists(ImageName.fromString(image))))
    await once(
      `docker image inspect ${image} >/dev/null 2>&1 || docker build --quiet --network host --tag ${image} -`,
      dockerfile,
    )
  return image
}

interface TestNetwork {
  readonly name: string
  /** IPv4 address of the host in it. */
  readonly host: string
}

/** Makes sure that the network of the test containers exists. It is left for the next test. */
export async function ensureNetwork(): Promise<TestNetwork> {
  const host = await findHost()
  if (host !== undefined) return { name: network, host }
  await once(
    `docker network inspect ${network} >/dev/null 2>&1 || docker network create --internal --label kube-ovn.test=1 ${network}`,
  )
  return { name: network, host: String(await findHost()) }
}

async function findHost(): Promise<string | undefined> {
  const engine = await connectEngine()
  try {
    const { IPAM } = await engine.network.getById(network).inspect()
    return IPAM?.Config?.[0]?.Gateway
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Test workers start at the same time, and Docker does not keep two from making the same thing twice. */
async function once(script: string, input?: string): Promise<void> {
  await run(['flock', join(tmpdir(), 'kube-ovn-test.lock'), 'sh', '-c', script], input)
}
