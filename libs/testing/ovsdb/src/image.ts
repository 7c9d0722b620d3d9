import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.ts'

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
  await once(
    `docker image inspect ${image} >/dev/null 2>&1 || docker build --quiet --network host --tag ${image} -`,
    dockerfile,
  )
  return image
}

/** Makes sure that the network of the test containers exists, and answers its name. It is left for the next test. */
export async function ensureNetwork(): Promise<string> {
  await once(
    `docker network inspect ${network} >/dev/null 2>&1 || docker network create --internal --label kube-ovn.test=1 ${network}`,
  )
  return network
}

/** Test workers start at the same time, and Docker does not keep two from making the same thing twice. */
async function once(script: string, input?: string): Promise<void> {
  await run(['flock', join(tmpdir(), 'kube-ovn-test.lock'), 'sh', '-c', script], input)
}
