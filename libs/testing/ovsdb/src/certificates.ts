import type { Container } from './container.ts'

/** PEM texts of an authority and of a certificate that it signed, good for both ends of a connection. */
export interface Certificates {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

/** Makes certificates and puts them where ovsdb-server looks for them. */
export async function createCertificates(container: Container): Promise<Certificates> {
  await container.script(`cd /run/ovn
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
openssl req -x509 $key -days 2 -subj /CN=test-ca -keyout ca.key -out ca.pem 2>/dev/null
openssl req $key -subj /CN=test -keyout key.pem -out request.pem 2>/dev/null
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out cert.pem 2>/dev/null`)
  const read = (file: string): Promise<string> => container.run(['cat', `/run/ovn/${file}`])
  const [ca, certificate, privateKey] = await Promise.all([read('ca.pem'), read('cert.pem'), read('key.pem')])
  return { ca, certificate, privateKey }
}
