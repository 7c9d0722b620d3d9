# TLS between the databases, their clients and each other. Sourced.
#
# ENABLE_SSL  "true": all of them prove to each other who they are. See tls-limits.sh for TLS_*.
#
# The daemons read the files anew when they change: what is renewed is good for the next connection, without a restart.
# shellcheck shell=bash

. /kube-ovn/tls-limits.sh

tls_directory=${TLS_DIRECTORY:-/var/run/tls}
tls_key=$tls_directory/key
tls_certificate=$tls_directory/cert
tls_authority=$tls_directory/cacert

# Protocol of endpoints, and options of OVSDB's commands.
protocol=tcp
tls_options=()
if [[ ${ENABLE_SSL:-false} == true ]]; then
  protocol=ssl
  # shellcheck disable=SC2034 # for those who source this
  tls_options=("--private-key=$tls_key" "--certificate=$tls_certificate" "--ca-cert=$tls_authority")
fi

# ovn_ctl_tls DAEMON: options by which ovn-ctl gives the files and limits to nb-db, sb-db, northd or controller.
ovn_ctl_tls() {
  if [[ $protocol == ssl ]]; then
    echo "--ovn-$1-ssl-key=$tls_key --ovn-$1-ssl-cert=$tls_certificate --ovn-$1-ssl-ca-cert=$tls_authority"
    tls_limits "$1"
  fi
}

# tls_problem: says what is wrong with the files, and what to do; nothing if nothing is. What OVSDB logs does not tell.
tls_problem() {
  local secret='the Secret of the certificates (kube-ovn-tls, or what networking.tlsSecret names)' answer
  if [[ $protocol != ssl ]]; then
    return
  fi
  if ! answer=$(openssl x509 -in "$tls_authority" -noout 2>&1); then
    echo "cacert holds no certificate: put that of the authority into cacert of $secret"
  elif ! answer=$(openssl x509 -in "$tls_certificate" -noout 2>&1); then
    echo "cert holds no certificate: put one that the authority has signed into cert of $secret"
  elif ! answer=$(openssl pkey -in "$tls_key" -passin pass: -noout 2>&1); then
    echo "key holds no private key without a password: put that of the certificate into key of $secret"
  elif [[ $(openssl x509 -in "$tls_certificate" -noout -pubkey) != "$(openssl pkey -in "$tls_key" -pubout)" ]]; then
    echo "key is that of another certificate: put the one of cert into key of $secret"
  elif ! answer=$(openssl verify -no-CApath -no-CAstore -CAfile "$tls_authority" -untrusted "$tls_certificate" \
    "$tls_certificate" 2>&1); then
    answer=$(sed -n 's/^error [0-9]* at .* lookup: //p' <<<"$answer" | head -1)
    echo "cert is not one that cacert trusts ($answer): put a certificate of that authority into cert of $secret"
  fi
}
