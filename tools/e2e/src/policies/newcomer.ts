import { ofStack, type ApiObject, type Stack } from '@kube-ovn/lab'
import { port } from './claims.ts'

/** Addresses of the newcomer, which are known before it is there. */
export function newAddresses(stack: Stack): readonly string[] {
  return ofStack(stack, { ipv4: '10.17.99.9', ipv6: 'fd00:10:17::6309' })
}

/** A pod with addresses that are known before it is there: it serves once it found that it can ask some, and could not ask others. */
export function newcomer(
  addresses: readonly string[],
  pairs: readonly (readonly [forbidden: string, allowed: string])[],
): ApiObject {
  const url = (address: string) => `http://${address.includes(':') ? `[${address}]` : address}:${port}/`
  const fetched = (address: string, seconds: number) =>
    `busybox wget -q -T ${seconds} -O /dev/null ${url(address)}`
  const script = [
    ...pairs.map(([forbidden]) => `(${fetched(forbidden, 2)} && touch /tmp/open) &`),
    'wait',
    '[ ! -e /tmp/open ] || exit 1',
    ...pairs.map(([, allowed]) => `${fetched(allowed, 20)} || exit 2`),
    `exec busybox httpd -f -p ${port} -h /tmp`,
  ].join('\n')
  const annotations = { 'ovn.kubernetes.io/ip_address': addresses.join(',') }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'newcomer', namespace: 'shop', labels: { app: 'newcomer' }, annotations },
    spec: {
      terminationGracePeriodSeconds: 0,
      restartPolicy: 'Never',
      containers: [
        {
          name: 'newcomer',
          image: 'docker.io/library/busybox:stable',
          command: ['sh', '-c', script],
          readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
        },
      ],
    },
  } as ApiObject
}
