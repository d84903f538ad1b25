/**
 * A certificate for `localhost` and 127.0.0.1 that signs itself, for TLS on the loopback interface.
 * Its key is no secret, and nothing outside of tests trusts it.
 */
export const certificate: { readonly key: string; readonly cert: string } = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjT33IHs60l7sngSr
5Jhyq9PuciEWFKBWnImSX+bFJ3yhRANCAAQDbJXXng5kO+Nm4cPiDDKS6mv2i72n
k/A+VQZxFbTGPHlwbitl3mFpUby3pkuIQAlD6sHAAChsBXAZPH0atNR1
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUBNpMXuo2+2zIQLFgoXC6GScvx6owCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDE4NTAzNVoYDzIxMjYxMTA2
MTg1MDM1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQDbJXXng5kO+Nm4cPiDDKS6mv2i72nk/A+VQZxFbTGPHlwbitl3mFp
Uby3pkuIQAlD6sHAAChsBXAZPH0atNR1o28wbTAdBgNVHQ4EFgQUw34l5S6ux0/s
4gVQ71LoHD0MqDQwHwYDVR0jBBgwFoAUw34l5S6ux0/s4gVQ71LoHD0MqDQwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAKf+CNYBLssnhy97dnAQ2TRqMchMgeWh18F6Y0B6rtSDAiEA
hIoT02nxzGzCv138h34KvN/EWWU787totNAsK0P8mu8=
-----END CERTIFICATE-----
`,
};
