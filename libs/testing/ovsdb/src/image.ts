import { ensureTestImage, ensureTestNetwork, testNetwork } from '@kube-ovn/testing-docker'
import { connectEngine, isNotFound } from './engine.ts'

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openvswitch-switch ovn-central ovn-host openssl nftables \\
 && rm -rf /var/lib/apt/lists/*
`

/** Makes sure that the image with OVS and OVN exists, and answers its name. Building it takes about 20 seconds. */
export async function ensureImage(): Promise<string> {
  // Says at once what is wrong where there is no engine.
  await connectEngine()
  return ensureTestImage('ovn', { dockerfile })
}

interface TestNetwork {
  readonly name: string
  /** IPv4 address of the host in it. */
  readonly host: string
}

/** Makes sure that the network of the test containers exists. It is left for the next test. */
export async function ensureNetwork(): Promise<TestNetwork> {
  const host = await findHost()
  if (host !== undefined) return { name: testNetwork, host }
  await ensureTestNetwork()
  return { name: testNetwork, host: String(await findHost()) }
}

async function findHost(): Promise<string | undefined> {
  const engine = await connectEngine()
  try {
    const { IPAM } = await engine.network.getById(testNetwork).inspect()
    return IPAM?.Config?.[0]?.Gateway
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
